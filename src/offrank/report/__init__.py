"""Documents, and how they are written: `page` makes one self-contained HTML file, `terminal` prints."""

__all__: list[str] = []
