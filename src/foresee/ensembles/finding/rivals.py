"""Ensembles of one given cell: deep ensembles, MC DropPath, snapshots."""
