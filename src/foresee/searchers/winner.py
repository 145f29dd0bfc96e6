"""A closer look at the winner when a search ends: which of its layers carry the default score.

It is kept in the run as plain numbers, so a report is written where neither the code of the networks nor the data is.
"""

from __future__ import annotations

from foresee.errors import storable
from foresee.searchers.session import Session

#: the proxy that knows its layers, the variant that tells them as parts, and how the names of these parts begin
PROXY, TELLS, LAYER = "foresee", "foresee:layers", "layer "
#: the event that keeps them
KIND = "layers"


def look_at_winner(session: Session) -> None:
    """Keep what the layers of the best candidate contribute, where the run scored by the default score as it is."""
    store, scorer = session.store, session.problem.scorer
    record = store.record()
    best = record.best
    if best is None or PROXY not in scorer.proxies or PROXY in scorer.settings.proxy_settings:
        return
    if any(event.kind == KIND and event.candidate == best.id for event in record.events):
        return
    (scored,) = session.desk.gather([best.architecture], [TELLS], session.problem.seed)
    if not scored.scores or not scored.scores[0].ok:
        why = scored.error or (scored.scores[0].reason if scored.scores else "")
        store.log(KIND, best.id, reason=storable(why))
        return
    parts = scored.scores[0].parts
    store.log(
        KIND, best.id, layers={name[len(LAYER) :]: part for name, part in parts.items() if name.startswith(LAYER)}
    )
