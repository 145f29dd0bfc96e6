"""Thin networks of a few rows of real tables."""

from __future__ import annotations

from foresee.papers import Workshop

THIN = {
    "nasbench201": {"channels": 4, "cells": 1},
    "nasbench101": {"channels": 16, "cells": 1},
    "darts": {"channels": 4},
}


def linked(tmp_path, data_folder, *names):
    """A folder with some of the tables: reading all of them takes seconds."""
    for name in names:
        (tmp_path / name).symlink_to(data_folder / "nas" / name)
    return Workshop(tmp_path, sample=8, data="synthetic", bootstrap=20, batch_size=4, space_settings=THIN)
