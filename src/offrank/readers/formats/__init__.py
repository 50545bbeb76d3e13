"""Logs of public data sets, a file per format; each is a function of its name in `offrank.readers`."""

__all__: list[str] = []
