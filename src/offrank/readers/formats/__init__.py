"""Readers of public data sets, one file per format; each is a function of its name in `offrank.readers`."""

__all__: list[str] = []
