"""What can be built: spaces of architectures, their networks and their counts.

>>> from foresee import spaces
>>> "nasbench201" in spaces.names()
True

The class of each space of this room is here too, by its name: `spaces.NASBench201`. The files that hold them are imported
when one of them is first asked for, whichever files there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foresee.spaces.base import Graph, Space, spaces
from foresee.spaces.candidate import Candidate, build
from foresee.spaces.counting import Counts
from foresee.spaces.find import get
from foresee.spaces.own import OwnSpace, load_object, own

if TYPE_CHECKING:  # what type checkers know; a space that is not listed here is there all the same
    from foresee.spaces.autoformer import AutoFormerBase as AutoFormerBase
    from foresee.spaces.autoformer import AutoFormerSmall as AutoFormerSmall
    from foresee.spaces.autoformer import AutoFormerTiny as AutoFormerTiny
    from foresee.spaces.darts import DARTS as DARTS
    from foresee.spaces.darts import DARTSNASI as DARTSNASI
    from foresee.spaces.mlp import MLP as MLP
    from foresee.spaces.mobile import Mobile as Mobile
    from foresee.spaces.nasbench1shot1 import NASBench1Shot1S1 as NASBench1Shot1S1
    from foresee.spaces.nasbench1shot1 import NASBench1Shot1S2 as NASBench1Shot1S2
    from foresee.spaces.nasbench1shot1 import NASBench1Shot1S3 as NASBench1Shot1S3
    from foresee.spaces.nasbench101 import NASBench101 as NASBench101
    from foresee.spaces.nasbench201 import NASBench201 as NASBench201
    from foresee.spaces.nasbench_macro import NASBenchMacro as NASBenchMacro
    from foresee.spaces.nasrec import NASRecFull as NASRecFull
    from foresee.spaces.nasrec import NASRecSmall as NASRecSmall
    from foresee.spaces.nats_size import NATSSize as NATSSize
    from foresee.spaces.plainnet import MobileNet as MobileNet
    from foresee.spaces.plainnet import ResNet as ResNet
    from foresee.spaces.robnet import RobNet as RobNet
    from foresee.spaces.transnas import TransNASMacro as TransNASMacro
    from foresee.spaces.transnas import TransNASMicro as TransNASMicro

__all__ = [
    "Candidate",
    "Counts",
    "Graph",
    "OwnSpace",
    "Space",
    "build",
    "get",
    "load_object",
    "names",
    "own",
    "spaces",
]


def names(pattern: str = "*") -> list[str]:
    """Names of the registered spaces that match a wildcard pattern."""
    return spaces.names(pattern)


def _kinds() -> dict[str, type[Space[Any]]]:
    """The registered classes of this room by their names; those of plug-ins are in their own packages."""
    kinds = [spaces[name] for name in spaces.names()]
    return {kind.__name__: kind for kind in kinds if kind.__module__.startswith(f"{__name__}.")}


def __getattr__(name: str) -> Any:
    # Python asks here for files too (`from foresee.spaces import counting`), whose names are small: these must not make the
    # whole room be imported.
    if name[:1].isupper() and (kind := _kinds().get(name)):
        globals()[name] = kind
        return kind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_kinds()})
