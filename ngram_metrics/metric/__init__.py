"""What a metric is: its definition, its scorer, its settings and its signature. Nothing here has a state."""
