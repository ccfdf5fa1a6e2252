"""Longest common subsequences, counted bit-parallel, and the union of them behind ROUGE-Lsum."""
