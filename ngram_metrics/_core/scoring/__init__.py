"""What all metrics share: measures, scorers, pairs, groups, resampling, signatures. Nothing here keeps a state."""
