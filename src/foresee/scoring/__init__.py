"""From networks and texts to scores: the only way in for everybody above.

`score` and `scores` look at one network, `rank` at several, `scored` at many architectures of a space, each score once.
"""

from __future__ import annotations

from foresee.scoring.cache import Cache
from foresee.scoring.many import ScoreMatrix, scored
from foresee.scoring.one import score, scores
from foresee.scoring.ranking import Ranking, rank

__all__ = ["Cache", "Ranking", "ScoreMatrix", "rank", "score", "scored", "scores"]
