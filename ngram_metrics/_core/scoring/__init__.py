"""What all metrics share: measures, scorers, rows, references, resampling, signatures. Nothing here has a state."""
