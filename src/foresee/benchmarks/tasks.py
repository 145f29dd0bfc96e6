"""What networks a benchmark's numbers are of: the task and the settings of the space, by space and name of the task.

Proxies are judged on the networks whose accuracies the tables hold, not on smaller ones. Where a benchmark's own images are
too large to look at by the thousand, the input is smaller and `REMARKS` says so; the cells and widths are the benchmark's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foresee.errors import UnknownNameError
from foresee.registry import tidy
from foresee.task import Task


@dataclass(frozen=True)
class Networks:
    """The networks of one task of a benchmark."""

    task: Task
    settings: Mapping[str, Any] = field(default_factory=dict)


def _images(size: int, outputs: int, **settings: Any) -> Networks:
    return Networks(Task((3, size, size), outputs), settings)


_CIFAR10 = {"cifar10": _images(32, 10)}
_THREE = {**_CIFAR10, "cifar100": _images(32, 100), "imagenet16": _images(16, 120)}
_ONE_SHOT = {"cifar10": _images(32, 10, loose_ends="listed")}
_TRANSNAS = {
    "class_object": _images(64, 75),
    "class_scene": _images(64, 47),
    "jigsaw": _images(64, 1000, head="jigsaw"),
    "room_layout": _images(64, 9, head="regression"),
    "segmentsemantic": _images(64, 17, head="dense"),
    "normal": _images(64, 3, head="dense"),
    "autoencoder": _images(64, 3, head="dense"),
}
_AUTOFORMER = {
    "cifar100": _images(224, 100),
    "flowers": _images(224, 102),
    "chaoyang": _images(224, 4),
    "imagenet": _images(224, 1000),
}
_MOBILE = {"imagenet": _images(224, 1000), "cifar10": _images(32, 10), "cifar100": _images(32, 100)}

#: space -> name of the task -> its networks; the first task of a space is meant where none is named
NETWORKS: dict[str, dict[str, Networks]] = {
    "nasbench101": _CIFAR10,
    "nasbench1shot1_s1": _ONE_SHOT,
    "nasbench1shot1_s2": _ONE_SHOT,
    "nasbench1shot1_s3": _ONE_SHOT,
    "nasbench201": _THREE,
    "nats_size": _THREE,
    "nasbench_macro": _CIFAR10,
    "mobile": _MOBILE,
    "darts": {"cifar10": _images(32, 10, channels=32, layers=8)},
    "transnas_micro": _TRANSNAS,
    "transnas_macro": _TRANSNAS,
    "autoformer_tiny": _AUTOFORMER,
    "autoformer_small": _AUTOFORMER,
    "autoformer_base": _AUTOFORMER,
}

#: what differs from the benchmark's own, by space
REMARKS = {
    "transnas_micro": "the benchmark's images are 256x256; the networks look at 64x64",
    "transnas_macro": "the benchmark's images are 256x256; the networks look at 64x64",
    "darts": "the networks of NAS-Bench-301: 8 cells from 32 channels, without the auxiliary head",
}
_OTHER_NAMES = {
    "imagenet16_120": "imagenet16",
    "c10": "cifar10",
    "c100": "cifar100",
    "cifar10_valid": "cifar10",
    "flower": "flowers",
    "scene": "class_scene",
    "object": "class_object",
    "segmentation": "segmentsemantic",
}


def of(space: str, task: str = "") -> tuple[Task, dict[str, Any]]:
    """The task and the settings of the space for a benchmark's task; `task` may be left out for a space's first one.

    >>> of("nasbench201", "ImageNet16-120")
    (Task(inputs=(3, 16, 16), outputs=120, vocabularies=(), tokens=None), {})
    """
    if space not in NETWORKS:
        raise UnknownNameError("space with a benchmark (give --input and --outputs for your own)", space, NETWORKS)
    known = NETWORKS[space]
    name = tidy(task).lower()
    name = _OTHER_NAMES.get(name, name) or next(iter(known))
    if name not in known:
        raise UnknownNameError(f"task of {space} (or give --input and --outputs)", task, known)
    return known[name].task, dict(known[name].settings)


def remark(space: str) -> str:
    """What differs from the benchmark's own networks, or nothing."""
    return REMARKS.get(space, "")
