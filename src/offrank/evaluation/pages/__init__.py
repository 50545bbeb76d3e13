"""Pages of an evaluation: its result as a document."""

__all__: list[str] = []
