"""A closer look when a search ends: which layers of the winner carry the default score, and pictures of the best.

Both are kept in the run as plain values, so a report is written where neither the code of the networks nor the data is.
"""

from __future__ import annotations

from foresee.errors import RunError, said, storable
from foresee.runs.store import Store
from foresee.searchers.problem import Problem
from foresee.searchers.run import Run
from foresee.searchers.session import Session
from foresee.spaces.own import OwnSpace

#: the proxy that knows its layers, the variant that tells them as parts, and how the names of these parts begin
PROXY, TELLS, LAYER = "foresee", "foresee:layers", "layer "
#: the event that keeps them
KIND = "layers"
#: of so many of the best a run keeps pictures
DRAWN = 5


def look_at_winner(session: Session) -> None:
    """Keep what the layers of the best candidate contribute, where the run scored by the default score as it is."""
    store, scorer = session.store, session.problem.scorer
    if PROXY not in scorer.proxies or PROXY in scorer.settings.proxy_settings:
        return
    record = store.record()
    best = record.best
    if best is None:
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


def keep_drawings(store: Store, run: Run, problem: Problem) -> bool:
    """Keep pictures of the best networks of an own space as plain data: a report is read where its code is not."""
    space = problem.space
    if not isinstance(space, OwnSpace):
        return False
    known = {event.candidate for event in run.record.events if event.kind == "drawn"}
    new = [row for row in run.record.scored[:DRAWN] if row.id not in known]
    for row in new:
        try:
            store.log("drawn", row.id, drawing=space.drawing(space.parse(row.architecture), problem.task).to_json())
        except RunError:
            raise
        except Exception as error:  # a stranger's network may raise anything, and a picture is no reason to end a run
            store.log("drawn", row.id, reason=said(error))
    return bool(new)
