"""TransNAS-Bench-101: one backbone, seven vision tasks; 4,096 cells (`micro`) and 3,256 skeletons (`macro`).

`text` says what an architecture is and how it is written, `network` and `heads` how it is built and counted; `space` has the
two spaces, and `one_shot` holds all operations of the micro space at once.
"""

from __future__ import annotations

from foresee.spaces.transnas.one_shot import TransNASOneShot
from foresee.spaces.transnas.space import TransNASMacro, TransNASMicro
from foresee.spaces.transnas.text import MacroArchitecture, MicroArchitecture

__all__ = ["MacroArchitecture", "MicroArchitecture", "TransNASMacro", "TransNASMicro", "TransNASOneShot"]
