"""Readers of public data sets; each is a function of its name, in `READERS`."""

__all__: list[str] = []
