"""From token ids to integer counts. Knows no text, no formula and no framework."""
