"""What the name of a csv's column says: of which task a number is, what was measured, after how many epochs, of which seed.

>>> parted("test_acc_in16", IMAGE_TASKS), parted("ImageNet16-120", IMAGE_TASKS), parted("synflow", IMAGE_TASKS)
(('test_acc', 'imagenet16'), ('', 'imagenet16'), ('synflow', ''))
>>> measured("e12_val_acc"), measured("Test-Accuracy2"), measured(""), measured("synflow")
(('val_acc', 12, None), ('test_acc', None, 1), ('acc', None, None), None)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

IMAGE_TASKS = ("cifar100", "cifar10", "imagenet16")
TRANSNAS_TASKS = (
    "class_object", "class_scene", "jigsaw", "room_layout", "segmentsemantic", "normal", "autoencoder",
)  # fmt: skip
#: how people write the names of tasks, beside our own
_SPELLINGS = {
    "imagenet16": ("imagenet16_120", "imagenet_16_120", "imagenet_16", "in16_120", "in16"),
    "cifar100": ("cifar_100", "c100"),
    "cifar10": ("cifar_10", "c10"),
}
_PARTS = {"valid": "val", "validation": "val"}
_WHATS = {"accuracy": "acc"}
_MEASURED = re.compile(
    r"(?:e(?P<before>\d{1,9})_)?(?:mean_|naslib_)?(?:(?P<part>val|valid|validation|test|train)_)?"
    r"(?P<what>acc|accuracy|top1|loss|error)(?P<number>\d)?(?:_(?P<after>\d{1,9}))?"
)


def plain(name: str) -> str:
    """A name in small letters with underscores, of the same length."""
    return "".join("_" if sign in "- " else sign.lower() if len(sign.lower()) == 1 else sign for sign in name)


def parted(column: str, tasks: Sequence[str]) -> tuple[str, str]:
    """A column's name without its task, and the task; the whole name and nothing where it names none.

    A column that is called by a task alone has an empty name.
    """
    name = plain(column)
    spelled = [(spelling, task) for task in tasks for spelling in (task, *_SPELLINGS.get(task, ()))]
    for spelling, task in sorted(spelled, key=lambda pair: -len(pair[0])):
        if name == spelling:
            return "", task
        if name.endswith(f"_{spelling}"):
            return column[: -len(spelling) - 1], task
        if name.startswith(f"{spelling}_"):
            return column[len(spelling) + 1 :], task
    return column, ""


def measured(stem: str) -> tuple[str, int | None, int | None] | None:
    """Metric, epochs and seed of a column without its task; None of what it does not say, or where nothing was measured.

    `acc1` to `acc9` are of the seeds 0 to 8. No name at all is an accuracy: the column is called by its task.
    """
    name = plain(stem)
    if name == "":
        return "acc", None, None
    if name == "naslib_val":
        return "val_acc", None, None
    if name in ("val", "test", "train", *_PARTS):
        return _PARTS.get(name, name), None, None
    match = _MEASURED.fullmatch(name)
    if match is None:
        return None
    part, what = match["part"] or "", _WHATS.get(match["what"], match["what"])
    metric = "_".join(word for word in (_PARTS.get(part, part), what) if word)
    epochs, number = match["before"] or match["after"], match["number"]
    if not part and epochs and len(epochs) == 1 and number is None:  # acc_1 is no accuracy after one epoch
        epochs, number = None, epochs
    return metric, int(epochs) if epochs else None, None if number is None else int(number) - 1
