"""Which rows of a click log are for training, which for validation, which for the test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from foresee.data.base import SPLITS
from foresee.errors import InputError, UnknownNameError, shown

#: how rows come to their parts
WAYS = ("random", "order", "time", "column", "fold")
PARTS = ("train", "val", "test")
SHARES = {"train": 0.8, "val": 0.1, "test": 0.1}


def whole_split(split: Mapping[str, Any], called: str) -> dict[str, Any]:
    """A split with all that it leaves unsaid."""
    by = split.get("by", "random")
    if by not in WAYS:
        raise UnknownNameError(f"split of {called} by", str(by), WAYS)
    own = {"column": {"column", "values"}, "fold": {"fold", "folds", "val", "seed"}, "random": {*PARTS, "seed"}}
    takes = {"by", *own.get(by, PARTS)}
    for key in split:
        if key not in takes:
            raise UnknownNameError(f"value of a split by {by} in {called}", key, takes)
    if by == "column":
        return {"by": by, **_column_split(split, called)}
    if by == "fold":
        return {"by": by, **_fold_split(split, called)}
    said = {part: split[part] for part in PARTS if part in split} or SHARES
    shares = {part: said.get(part, 0.0) for part in PARTS}
    sound = all(_is_share(share) for share in shares.values()) and abs(math.fsum(shares.values()) - 1) <= 1e-6
    if not sound or shares["train"] == 0:
        raise InputError(
            f"{called}: split {shown(dict(split))}: expected shares of train, val and test that sum up to 1"
        )
    return {"by": by, **{part: float(share) for part, share in shares.items()}} | (
        {"seed": _seed(split, called)} if by == "random" else {}
    )


def _seed(split: Mapping[str, Any], called: str) -> int:
    seed = split.get("seed", 0)
    if not _is_whole(seed):
        raise InputError(f"{called}: split seed {shown(seed)}: expected a whole number")
    return int(seed)


def _fold_split(split: Mapping[str, Any], called: str) -> dict[str, Any]:
    """Fold `fold` of `folds` is the test; of the rest, the share `val` is for validation."""
    folds, fold, share = split.get("folds", 5), split.get("fold", 0), split.get("val", 0.1)
    if not _is_whole(folds) or not _is_whole(fold) or not 2 <= folds <= 1000 or not 0 <= fold < folds:
        raise InputError(f"{called}: split fold {shown(fold)} of {shown(folds)}: expected a fold from 0 of 2 or more")
    if not _is_share(share) or share == 1:
        raise InputError(f"{called}: split val {shown(share)}: expected a share from 0 to below 1")
    return {"folds": folds, "fold": fold, "val": float(share), "seed": _seed(split, called)}


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _column_split(split: Mapping[str, Any], called: str) -> dict[str, Any]:
    column, values = split.get("column"), split.get("values")
    if not isinstance(column, str) or not column:
        raise InputError(f"{called}: a split by column needs its name: column = ...")
    if values is None:
        words = {**SPLITS, "dev": "val"}
        values = {part: [word for word, means in words.items() if means == part] for part in PARTS}
    sound = (
        isinstance(values, Mapping) and "train" in values and all(isinstance(v, list | tuple) for v in values.values())
    )
    if not sound or not set(values) <= set(PARTS):
        raise InputError(
            f"{called}: split values {shown(values)}: expected lists of the column's values for train, val and test"
        )
    texts = {part: [str(one) for one in values[part]] for part in PARTS if part in values}
    if len({one for some in texts.values() for one in some}) < sum(map(len, texts.values())):
        raise InputError(f"{called}: split values {shown(values)}: a value stands there twice")
    return {"column": column, "values": texts}


def _is_share(share: object) -> bool:
    return isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
