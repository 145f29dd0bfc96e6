"""A warm-up in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def in_words(facts: Mapping[str, Any]) -> str:
    """What was trained before looking, for people.

    >>> in_words({"level": "10%", "by": "supernet", "steps": 3, "samples": 192, "of": 1797, "recipe": {"name": "warmup"}})
    '10%: one supernet, 3 steps of recipe warmup, 192 samples of 1,797'

    Where a level is fewer steps than a click log is warmed up by at least, both numbers are said:
    "1%: one supernet, 20 steps (the least; 1% would be 1) of recipe ctr, 10,240 samples of 7,600".
    """
    who = "one supernet" if facts["by"] == "supernet" else "each network by itself"
    named = facts["recipe"].get("name")
    recipe = f"recipe {named}" if named else "a recipe of your own"
    stated = facts.get("stated_steps")
    least = "" if stated is None else f" (the least; {facts['level']} would be {stated:,})"
    steps = f"{facts['steps']:,} steps{least} of {recipe}"
    return f"{facts['level']}: {who}, {steps}, {facts['samples']:,} samples of {facts['of']:,}"
