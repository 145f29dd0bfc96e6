"""Thesis chapter 4: cells, how fast they learn, and the landscapes of their losses."""
