"""The metrics: what each counts of a sentence, and the formula that turns counts into a score."""
