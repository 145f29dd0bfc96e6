"""From networks and texts to scores: the only way in for everybody above.

`score` and `scores` look at one network, `rank` at several; a `Scorer` takes the texts of a space's architectures, and
`scored` many of them, each score once. `ScoringSettings` are all that a score depends on beside the architecture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foresee.lazy import lazily

#: public name -> where it lives; imported on first use, so that settings can be read without loading torch
_HOMES = {
    "Cache": "foresee.scoring.cache",
    "Job": "foresee.scoring.scorer",
    "Ranking": "foresee.scoring.ranking",
    "ScoreMatrix": "foresee.scoring.many",
    "Scored": "foresee.scoring.scorer",
    "Scorer": "foresee.scoring.scorer",
    "Scores": "foresee.scoring.several",
    "ScoringSettings": "foresee.scoring.settings",
    "rank": "foresee.scoring.ranking",
    "score": "foresee.scoring.one",
    "scored": "foresee.scoring.many",
    "scores": "foresee.scoring.one",
}

if TYPE_CHECKING:
    from foresee.scoring.cache import Cache
    from foresee.scoring.many import ScoreMatrix, scored
    from foresee.scoring.one import score, scores
    from foresee.scoring.ranking import Ranking, rank
    from foresee.scoring.scorer import Job, Scored, Scorer
    from foresee.scoring.settings import ScoringSettings
    from foresee.scoring.several import Scores

__all__ = [
    "Cache",
    "Job",
    "Ranking",
    "ScoreMatrix",
    "Scored",
    "Scorer",
    "Scores",
    "ScoringSettings",
    "rank",
    "score",
    "scored",
    "scores",
]

__getattr__, __dir__ = lazily(__name__, _HOMES)
