"""What every package may import: checks of options, errors of keywords, output. None of it imports torch."""
