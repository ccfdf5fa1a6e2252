"""From strings, tokens and ids to token ids on a device. Knows no metric and no framework."""
