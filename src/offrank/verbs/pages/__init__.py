"""What pages show: a document of numbers, such as `Result.to_dict` makes, becomes one of sections."""

__all__: list[str] = []
