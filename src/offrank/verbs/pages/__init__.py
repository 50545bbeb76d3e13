"""Pages of results: each turns a document of numbers, such as `Result.to_dict` makes, into sections."""

__all__: list[str] = []
