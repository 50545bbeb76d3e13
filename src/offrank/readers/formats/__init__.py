"""Readers of public data sets, one file per format; each is a function of its name, in `READERS`."""

__all__: list[str] = []
