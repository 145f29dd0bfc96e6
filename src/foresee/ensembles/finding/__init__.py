"""From a space and data to an ensemble: supernet, posterior, selection, members trained, measured; and all rivals alike.

    found = ensemble("darts", data, size=3, sampler="svgd-rd", out="runs/e")
    table = compare_ensembles("darts", data, ["svgd-rd", "uniform", "nes-rs", "deep:ENAS"], seeds=3, out="runs/c")

`samplers`, `nes` and `rivals` say how members are chosen, `workshop` what samplers share (supernet, posterior, estimates),
`members` how each is trained once, `making` how one ensemble comes together; `planning` shares a comparison's work among
processes, `estimation` is Table 5.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use
_HOMES = {
    "EnsembleComparison": "foresee.ensembles.finding.compared",
    "EnsembleRun": "foresee.ensembles.finding.result",
    "EnsembleSettings": "foresee.ensembles.finding.settings",
    "agreement": "foresee.ensembles.finding.estimation",
    "choose": "foresee.ensembles.finding.run",
    "compare_ensembles": "foresee.ensembles.finding.comparing",
    "ensemble": "foresee.ensembles.finding.run",
    "plan": "foresee.ensembles.finding.planning",
    "train_member": "foresee.ensembles.finding.run",
    "train_planned": "foresee.ensembles.finding.planning",
    "train_what_is_left": "foresee.ensembles.finding.planning",
}

if TYPE_CHECKING:
    from foresee.ensembles.finding.compared import EnsembleComparison
    from foresee.ensembles.finding.comparing import compare_ensembles
    from foresee.ensembles.finding.estimation import agreement
    from foresee.ensembles.finding.planning import plan, train_planned, train_what_is_left
    from foresee.ensembles.finding.result import EnsembleRun
    from foresee.ensembles.finding.run import choose, ensemble, train_member
    from foresee.ensembles.finding.settings import EnsembleSettings

__all__ = [
    "EnsembleComparison",
    "EnsembleRun",
    "EnsembleSettings",
    "agreement",
    "choose",
    "compare_ensembles",
    "ensemble",
    "plan",
    "train_member",
    "train_planned",
    "train_what_is_left",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
