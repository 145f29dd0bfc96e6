"""A click log of a few rows as a file, and a workshop for it whose networks are tiny."""

from __future__ import annotations

import numpy as np

from foresee.papers import Workshop

#: of the tables
TINY = {
    "evaluations": 3, "population": 2, "sample": 1, "children": 1, "top": 2, "steps": 2, "drawn": 2, "batch": 8,
    "recipe": "nasrec_reduced", "spaces": ["small"],
}  # fmt: skip
SPACE = {"blocks": 2, "dense_widths": [16], "sparse_widths": [16]}


def log(folder):
    """The path of a log with a rule in it: rows to learn from, for validation and to test on."""
    path = folder / "clicks.npz"
    if not path.exists():
        rng = np.random.default_rng(0)
        arrays = {}
        for split, rows in (("train", 160), ("val", 40), ("test", 40)):
            dense, sparse = rng.standard_normal((rows, 3)), rng.integers(0, 5, (rows, 2))
            clicked = dense[:, 0] + (sparse[:, 0] == 1) + 0.5 * rng.standard_normal(rows) > 0.4
            arrays |= {f"dense_{split}": dense, f"sparse_{split}": sparse, f"y_{split}": clicked.astype(int)}
        np.savez(path, **arrays)
    return str(path)


def shop(folder, **changes):
    """A workshop that looks at it."""
    spaces = {"nasrec_small": SPACE, "nasrec_full": SPACE}
    return Workshop(**{"data": log(folder), "table_settings": TINY, "space_settings": spaces, **changes})
