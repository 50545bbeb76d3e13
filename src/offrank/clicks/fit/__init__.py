"""Fitting of click models: EM, priors of documents, examination curves, posteriors, sessions cut at last clicks."""

__all__: list[str] = []
