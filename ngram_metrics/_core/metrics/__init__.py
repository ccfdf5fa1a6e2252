"""The metrics, one file for each: what it counts in a segment, its formula and its options."""
