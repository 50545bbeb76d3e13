"""Jobs about click models, a module per verb; their public names are in `offrank`."""

__all__: list[str] = []
