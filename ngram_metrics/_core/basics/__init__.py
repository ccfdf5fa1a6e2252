"""What every room may import: options and their checks, errors of keywords, outputs. All of it is without torch."""
