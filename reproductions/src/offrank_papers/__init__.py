"""Reproductions of papers: the same tables and plots, and a verdict on each claim."""

__all__: list[str] = []
