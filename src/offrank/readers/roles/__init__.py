"""Which column of a table has which role: from the shape of its values, then from the names.

`columns` measures the first values of each column, `long` and `wide` look for the roles of each layout, and `choice`
decides between rivals or asks. What is sure is used; what is not is asked for.
"""

__all__: list[str] = []
