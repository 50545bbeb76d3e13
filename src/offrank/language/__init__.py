"""What the whole house speaks: spellings and registries, arguments, words for numbers and assumptions, files."""

__all__: list[str] = []
