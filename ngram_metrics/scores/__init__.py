"""The measures: what each of them counts in a sentence, and the formula that turns the counts into a score."""
