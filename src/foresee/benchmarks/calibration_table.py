"""From a table of trained architectures to a calibration: which count as trained, which are foreseen, and their proxies.

The values of architectures that do not count as trained are never handed to the model. Where the table knows them, they
check its predictions afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from foresee.benchmarks import tasks
from foresee.benchmarks.calibrated import CalibratedTable
from foresee.benchmarks.calibration import COVERAGE, calibrate, check_asked
from foresee.benchmarks.folder import cache_for, hold
from foresee.benchmarks.graph_views import view_of_parts, view_of_ways
from foresee.benchmarks.rank_model import Array, Indices
from foresee.benchmarks.table import Table
from foresee.data import Data
from foresee.errors import InputError
from foresee.proxies.base import names_of
from foresee.runs.environment import environment
from foresee.runs.events import Observer
from foresee.runs.progress import watched
from foresee.scoring.cache import Cache
from foresee.scoring.many import parsed, scored
from foresee.scoring.settings import ScoringSettings
from foresee.seeds import stream
from foresee.spaces.base import Space
from foresee.spaces.find import get
from foresee.task import Task

if TYPE_CHECKING:
    pass

#: label-free proxies that look at different things and want at most 16 samples: the default score, sizes, conditioning,
#: curvature, patterns, expressivity, flow. What does not apply to a space fails there and says nothing.
PROXIES = ("foresee", "params", "macs", "inverse_conditions", "curvature", "meco", "swap", "zen", "synflow")
#: the score that is shown beside, fitted to nothing; where it is among the proxies, the model leans on it
UNTRAINED = "foresee"
#: a proxy with this before its name is a column of the table
FROM_TABLE = "table:"
#: draws without a new architecture until a space is taken to be used up
DRAWS = 1000


def calibrate_table(
    table: Table,
    target: str,
    *,
    proxies: str | Sequence[str] | ScoringSettings = PROXIES,
    untrained: str = UNTRAINED,
    trained: int | None = None,
    predict: Sequence[str] | None = None,
    sample: int | None = None,
    parts: bool = True,
    coverage: float = COVERAGE,
    space_settings: Mapping[str, Any] | None = None,
    task: Task | None = None,
    bootstrap: int = 1000,
    data: str | Data | None = None,
    out: str | Path | None = None,
    cache: Cache | str | Path | None = None,
    engine: str = "serial",
    workers: int | None = None,
    observers: Iterable[Observer] = (),
    progress: bool = False,
    **scoring: Any,
) -> CalibratedTable:
    """Calibrate on architectures of a table and foresee others.

    Args:
        table: trained architectures and what was measured of them.
        target: the measured number to foresee.
        proxies: names, variants or wildcards; `table:NAME` is a column of the table; or whole `ScoringSettings`.
        untrained: the score to show beside, likewise; the model leans on it where it is among the proxies.
        trained: how many of the table count as trained, chosen by the seed; by default all that have the target.
        predict: architectures to foresee; by default those of the table that do not count as trained.
        sample: draw this many from the space instead.
        parts: whether the model also sees what the architectures are made of, where the space draws them.
        coverage: share of the intervals that shall hold the truth.
        space_settings: settings of the space besides those of the benchmark's networks.
        task: what the networks are built for; by default the benchmark's own.
        bootstrap: resamples behind the intervals of the skill.
        data: what proxies look at: a name, a path or a `Data`.
        out: folder for the results, and for the cache unless another is named.
        cache: scores already computed; by default the file $FORESEE_CACHE names, else `scores.sqlite` in `out`.
        engine: `serial` or `processes`; the result is the same.
        workers: processes to use; by default one per core.
        observers: called with an `Event` for each architecture scored.
        progress: show how far it is, in one line; also in a notebook.
        **scoring: any other field of `ScoringSettings`: seed (which also decides who counts as trained, folds and resamples),
            repeats, batch_size, threads, device, proxy_settings.
    """
    if isinstance(proxies, ScoringSettings):
        look = replace(proxies, **scoring)
    else:
        look = ScoringSettings.of(**scoring, proxies=[proxies] if isinstance(proxies, str) else list(proxies))
    given = data if isinstance(data, Data) else None
    look, seed = replace(look, data=data) if isinstance(data, str) else look, look.seed
    values = table.values(target)
    chosen = _chosen(values, trained, seed, table, target)
    check_asked(values[chosen], coverage, bootstrap)
    settings, task = _networks(table, target, task, space_settings or {})
    space = get(table.space, **settings) if table.space else None
    others = _others(table, chosen, predict, sample, space, seed)
    texts = [*(table.architectures[place] for place in chosen), *others]
    place_of = {text: place for place, text in enumerate(table.architectures)}
    rows = np.array([place_of.get(text, -1) for text in texts], dtype=np.int64)
    truth = np.where(rows >= 0, values[rows], np.nan)

    names, beside = list(dict.fromkeys(_full(look.proxies))), _one(untrained)
    drawn = parsed(space, texts, table.source) if space else []
    graphs = [space.graph(one) for one in drawn] if parts and space else []
    views = [view_of_parts(graphs), view_of_ways(graphs)] if graphs else []
    asked = {
        "space": table.space,
        "space_settings": settings,
        "table": table.source,
        "table_sha256": table.sha256,
        "target": target,
        "trained": len(chosen),
        "foreseen": "the rest of the table" if predict is None and sample is None else "a list" if predict else "drawn",
        "sample": sample,
        "proxies": names,
        "untrained": beside,
        "parts": parts,
        "coverage": coverage,
        "bootstrap": bootstrap,
        "seed": seed,
        "data": look.data if given is None else f"given:{given.fingerprint}",
        **{key: value for key in ("proxy_settings", "batch_size", "device") if (value := getattr(look, key))},
    }
    with ExitStack() as stack:
        folder = hold(out, stack)
        work: dict[str, Any] = {
            "engine": engine,
            "workers": workers,
            "observers": watched(observers, progress),
            "cache": cache_for(cache, folder),
        }
        work |= {"task": task, "space_settings": settings, "data": given}
        merits, reasons = _merits(table, rows, texts, list(dict.fromkeys([*names, beside])), look, work)
        found = calibrate(
            {name: merits[name] for name in names},
            np.arange(len(chosen)),
            values[chosen],
            untrained=merits[beside],
            leans=beside in names,
            parts=views,
            direction=table.target(target).direction,
            coverage=coverage,
            bootstrap=bootstrap,
            seed=seed,
        )
        made = CalibratedTable(
            found,
            texts,
            truth,
            table.target(target),
            beside,
            table.space,
            task,
            sum(view.shape[1] for view in views),
            reasons,
            asked,
            environment(device=look.device),
            folder,
        )
        if folder is not None:
            made.write(folder)
        return made


def read_texts(path: str | Path) -> list[str]:
    """Architectures from a file, one on a line; empty lines and those that begin with # are left out."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file ({error.reason})") from error
    texts = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not texts:
        raise InputError(f"{path}: no architecture in it; expected one on each line")
    return texts


# -- which architectures ------------------------------------------------------------------------------------------------
def _chosen(values: Array, trained: int | None, seed: int, table: Table, target: str) -> Indices:
    """Places of the architectures that count as trained, in the table's order."""
    known = np.flatnonzero(np.isfinite(values))
    if trained is None or trained == len(known):
        return known
    if trained < 0 or trained > len(known):
        raise InputError(
            f"--trained {trained}: {table.source or 'the table'} has {target} of {len(known)} architectures"
        )
    return np.sort(np.array(stream(seed, "trained").sample(known.tolist(), trained), dtype=np.int64))


def _others(
    table: Table,
    chosen: Indices,
    predict: Sequence[str] | None,
    sample: int | None,
    space: Space[Any] | None,
    seed: int,
) -> list[str]:
    """Texts of the architectures to foresee, none of them trained, each once."""
    taken = {table.architectures[place] for place in chosen}
    if space is not None:  # a user's own table may write an architecture in another of its forms
        taken |= set(map(str, parsed(space, taken, table.source)))
    if predict is not None and sample is not None:
        raise InputError("either a list of architectures to predict or a number to draw, not both")
    if sample is not None:
        return _drawn(taken, sample, space, seed)
    if predict is not None:
        read = list(map(str, parsed(space, predict, "the list to predict"))) if space else list(predict)
        others = [text for text in dict.fromkeys(read) if text not in taken]
    else:
        others = [text for text in table.architectures if text not in taken]
    if not others:
        raise InputError(
            "every architecture counts as trained: nothing is left to predict. Give --trained N (fewer than all), "
            "--predict FILE, or --sample N to draw from the space"
        )
    return others


def _drawn(taken: set[str], count: int, space: Space[Any] | None, seed: int) -> list[str]:
    if space is None:
        raise InputError("--sample draws from a space: name it, the table does not say which it is of")
    if count < 1:
        raise InputError(f"--sample {count}: expected how many architectures to draw")
    found: list[str] = []
    rng, misses = stream(seed, "predict"), 0
    seen = {space.canonical(one) for one in parsed(space, taken)}
    while len(found) < count and misses < DRAWS:
        drawn = space.sample(rng)
        identity = space.canonical(drawn)
        misses = misses + 1 if identity in seen else 0
        if identity not in seen:
            seen.add(identity)
            found.append(str(drawn))
    if not found:
        raise InputError(f"{DRAWS} draws from {space.name} gave only trained architectures: nothing is left to predict")
    return found


# -- what is known of them ----------------------------------------------------------------------------------------------
def _networks(
    table: Table, target: str, task: Task | None, own: Mapping[str, Any]
) -> tuple[dict[str, Any], Task | None]:
    """Settings of the space and the task: those given, else those of the benchmark's networks, else the data's."""
    known: dict[str, Any] = {}
    if table.space in tasks.NETWORKS and task is None:
        task, known = tasks.of(table.space, table.target(target).task)
    return {**known, **table.space_settings, **own}, task


def _full(names: str | Sequence[str]) -> list[str]:
    """Names in full; wildcards are of proxies, not of the table's columns."""
    found: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        found += [name] if name.startswith(FROM_TABLE) else names_of([name])
    return found


def _one(name: str) -> str:
    """The full name of one proxy; a wildcard that means several is refused."""
    found = _full(name)
    if len(found) != 1:
        raise InputError(f"--untrained {name}: means {', '.join(found[:5])}, ...; name one score to stand beside")
    return found[0]


def _merits(
    table: Table,
    rows: Indices,
    texts: Sequence[str],
    names: Sequence[str],
    look: ScoringSettings,
    work: Mapping[str, Any],
) -> tuple[dict[str, Array], dict[str, Mapping[str, int]]]:
    """Merits of all architectures by proxy: scored (minus infinity where that failed, for the reasons) or from the table."""
    computed = [name for name in names if not name.startswith(FROM_TABLE)]
    if computed and not table.space:
        raise InputError(f"{', '.join(computed)}: a space is needed to build networks, and the table does not name it")
    # The table's columns first: a name that is not there is better known before hours of scoring than after.
    columns: dict[str, Array] = {}
    for name in names:
        if name not in computed:
            columns[name] = _table_column(table, name.removeprefix(FROM_TABLE))
            if (rows < 0).any():
                stranger = texts[int(np.flatnonzero(rows < 0)[0])]
                raise InputError(f"{name}: the table has no architecture {stranger!r}, so it does not know its score")
    own = {name: one for name, one in look.proxy_settings.items() if name in computed}
    asked = replace(look, proxies=tuple(computed) or look.proxies, proxy_settings=own)
    matrices = scored(table.space, texts, asked, **work) if computed else {}
    merits: dict[str, Array] = {}
    for name in names:
        if name in matrices:
            merit = matrices[name].merit
            merits[name] = np.where(np.isnan(merit), -np.inf, merit)  # it was looked for and is not there: a failure
        else:
            merits[name] = columns[name][rows]
    return merits, {name: matrix.reasons for name, matrix in matrices.items()}


def _table_column(table: Table, name: str) -> Array:
    """A precomputed proxy of the table, or else one of its costs."""
    try:
        return table.proxy(name)
    except InputError:
        if name in table.costs:
            return table.cost(name)
        raise
