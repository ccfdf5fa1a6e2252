"""From strings, tokens and ids to token ids on a device. These modules import no metric and no framework."""
