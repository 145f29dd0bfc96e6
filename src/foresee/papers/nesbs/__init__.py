"""Thesis chapter 5: ensembles found before they are trained (NESBS), page by page."""
