"""Exact counts of n-grams and common subsequences of token ids."""
