"""Dextr: its tables and figures of correlations, its pictures, and cells trained."""
