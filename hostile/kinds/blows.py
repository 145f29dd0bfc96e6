"""A search whose process or worker is hit at a chosen event or statement, and resumed, ends as if it had never been touched.

The searcher is called directly, not through the command line, so that a blow falls at the same place in every repetition.
"""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

#: imported before cases are forked, so that each finds torch loaded
_KILLS = import_module("tests.searchers.kills")
SECONDS = 300.0


def case(rng: random.Random, folder: Path) -> None:
    """One run with several blows, beside the same one without."""
    _KILLS.case(rng.randrange(10**9), folder)
