"""Ensembles: networks that answer together, and how they withstand attack."""
