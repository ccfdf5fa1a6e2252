"""How strings, tokens and ids become token ids on a device. These modules import no metric and no framework."""
