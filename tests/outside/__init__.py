"""Parts that users define in modules of their own, outside the package."""
