"""The jobs of the library, one module per verb; `offrank.evaluate` and the others are their public names."""

__all__: list[str] = []
