"""What a table is, how it is read, what drew it, and what to ask next: the parts of `inspect`."""

__all__: list[str] = []
