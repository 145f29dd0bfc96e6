"""A warm-up in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def in_words(facts: Mapping[str, Any]) -> str:
    """What was trained before looking, for people.

    >>> in_words({"level": "10%", "by": "supernet", "steps": 3, "samples": 192, "of": 1797, "recipe": {"name": "warmup"}})
    '10%: one supernet, 3 steps of recipe warmup, 192 samples of 1,797'
    """
    who = "one supernet" if facts["by"] == "supernet" else "each network by itself"
    named = facts["recipe"].get("name")
    recipe = f"recipe {named}" if named else "a recipe of your own"
    return f"{facts['level']}: {who}, {facts['steps']:,} steps of {recipe}, {facts['samples']:,} samples of {facts['of']:,}"
