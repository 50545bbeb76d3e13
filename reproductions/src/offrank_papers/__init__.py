"""Reproductions of papers: the same tables and plots, and a verdict on each claim."""
