"""The looks: what can be seen of a network without training it, each thing once and only when asked for.

`Probe` is one look at one network; a proxy is a formula on what it saw. `Watcher` is the base of new looks.
"""

from __future__ import annotations

from foresee.probes import channels, exchanges  # looks are known once their files are read; a pass reads the others
from foresee.probes.draws import Draws
from foresee.probes.looks import Watcher
from foresee.probes.passes import Pass
from foresee.probes.probe import Probe

__all__ = ["Draws", "Pass", "Probe", "Watcher", "channels", "exchanges"]
