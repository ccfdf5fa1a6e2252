"""From token ids to integer counts. These modules import no text reader, no formula and no framework."""
