"""Sums that a warehouse makes: the query for a question, and the result of its table of sums."""

__all__: list[str] = []
