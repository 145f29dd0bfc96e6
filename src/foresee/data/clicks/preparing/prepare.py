"""A click log prepared once: encoded rows in plain .npy files, one set for each part, that numpy maps into memory.

    folder = prepare("clicks.csv.gz", "criteo")        # in a cache, by what the file and the schema are
    folder = prepare("clicks.csv.gz", "criteo", "prepared/criteo")

Two passes: one learns the preprocessing of the training rows, one writes all rows. All is made in a folder beside (`.part`)
that becomes the one asked for in a single step, so there is a whole one or none. Killed in the second pass, the work goes on
with what the first has learnt; killed earlier it begins again. A second process that wants the same folder waits.

A folder holds `manifest.json` (what it was made of, how many rows each part has, what was malformed, the sha256 of every
file), `preprocessing/`, and for each part `.dense.npy` (float32), `.sparse.npy` (int32), `.labels.npy` (uint8).
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from foresee.data.base import digest
from foresee.data.clicks.preparing.fitting import Fitting
from foresee.data.clicks.preparing.parts import Parts, Plan, plan
from foresee.data.clicks.preparing.storing import FORMAT, MANIFEST, VERSION, Growing, manifest_of, only_one, source_of
from foresee.data.clicks.preparing.tidying import most, tidy, used
from foresee.data.clicks.preprocessing import Encoded, Preprocessing
from foresee.data.clicks.reading.blocks import Malformed
from foresee.data.clicks.reading.chunk import REMEMBERED, Chunk
from foresee.data.clicks.reading.streaming import THREADS, chunks
from foresee.data.clicks.schema import Schema, schema
from foresee.data.clicks.splitting import PARTS
from foresee.data.loading import reading
from foresee.errors import DataError, InputError
from foresee.runs.folder import write_whole

#: names the folder that prepared logs are kept in, where none is asked for
KEPT = "FORESEE_PREPARED"
KINDS = {"dense": "<f4", "sparse": "<i4", "labels": "|u1"}


@dataclass(frozen=True)
class Progress:
    """How far preparing is: `stage` ("order", "learn", "write"), rows so far, malformed ones among them."""

    stage: str
    rows: int
    malformed: int


Observer = Callable[[Progress], None]


def prepare(
    path: str | Path,
    of: str | Path | Schema,
    folder: str | Path | None = None,
    *,
    preprocessing: Preprocessing | None = None,
    observers: Iterable[Observer] = (),
    resume: bool = True,
) -> Path:
    """Prepare a click log; what is there already is used. With a `preprocessing` rows are encoded by that one."""
    path = Path(path).expanduser()
    known = schema(of)
    if preprocessing is not None:
        known = preprocessing.schema.but(split=known.split, time=known.time)
    with reading(path, "a click log"):
        source = source_of(path)
    given = None if preprocessing is None else preprocessing.fingerprint
    asked = {"source": source, "schema": known.to_json(), "preprocessing": given}
    target = Path(folder).expanduser() if folder is not None else _kept(asked)
    work, limit, made = target.with_name(target.name + ".part"), most(), False
    while not _is_done(target, asked):
        made = True
        try:
            with only_one(work) as held:
                if held and not _is_done(target, asked):
                    _make(_Work(path, known, preprocessing, work, asked, tuple(observers), resume), target)
        except OSError as error:
            hint = f"; name another folder, or set {KEPT}" if folder is None else ""
            raise DataError(f"{target}: cannot be prepared ({error.strerror or error}){hint}") from error
    if folder is None:
        used(target)
        if made:
            tidy(target.parent, limit)
    return target


def _make(making: _Work, target: Path) -> None:
    """All of it, or nothing that is left behind where the file cannot be prepared; what is only interrupted stays."""
    try:
        making.do()
    except (DataError, InputError):
        shutil.rmtree(making.work, ignore_errors=True)
        raise
    os.replace(making.work, target)


def _kept(asked: dict[str, Any]) -> Path:
    """Where prepared logs are kept: named by what was asked, so that another file or schema is another folder."""
    home = os.environ.get(KEPT)
    root = Path(home).expanduser() if home else Path.home() / ".cache" / "foresee" / "clicks"
    return root / digest("clicks", VERSION, json.dumps(_matters(asked), sort_keys=True))


def _matters(asked: dict[str, Any]) -> dict[str, Any]:
    """Of what was asked, all but names."""
    source = {key: value for key, value in asked["source"].items() if key != "name"}
    plain = {key: value for key, value in asked["schema"].items() if key != "name"}
    return {"source": source, "schema": plain, "preprocessing": asked["preprocessing"]}


def _is_done(target: Path, asked: dict[str, Any]) -> bool:
    found = manifest_of(target)
    if found is None:
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            raise DataError(f"{target}: there is something else; name a folder that is empty or not there")
        return False
    if _matters(found["asked"]) != _matters(asked):
        raise DataError(
            f"{target}: holds {found['asked']['source']['name']} prepared from another file, schema or preprocessing; "
            "name another folder, or delete this one"
        )
    return True


@dataclass
class _Work:
    """One preparation, in its folder."""

    path: Path
    schema: Schema
    given: Preprocessing | None
    work: Path
    asked: dict[str, Any]
    observers: tuple[Observer, ...]
    resume: bool

    def do(self) -> None:
        if not (self.resume and self._is_whole()):
            self._make()
        (self.work / "learnt.json").unlink(missing_ok=True)

    def _is_whole(self) -> bool:
        """Whether it was killed when all was done but the last step."""
        try:
            found = manifest_of(self.work)
            return found is not None and _matters(found["asked"]) == _matters(self.asked)
        except DataError:
            return False

    def _make(self) -> None:
        learnt = self._learnt() if self.resume else None
        if learnt is None:
            self._clear()
            where = plan(lambda: self._pass("order"), self.schema, self.work / "times.bin")
            found = self.given or self._learn(where)
            found.save(self.work / "preprocessing")
            told = {"asked": self.asked, "plan": where.to_json()}
            write_whole(self.work / "learnt.json", json.dumps(told))
        else:
            where, found = learnt
        self._write(found, where)

    def _learnt(self) -> tuple[Plan, Preprocessing] | None:
        """What a killed preparation of the same has learnt."""
        try:
            told = json.loads((self.work / "learnt.json").read_text(encoding="utf-8"))
            if _matters(told["asked"]) == _matters(self.asked):
                return Plan.from_json(told["plan"]), Preprocessing.load(self.work / "preprocessing")
        except (OSError, ValueError, KeyError, TypeError, DataError):
            pass
        return None

    def _clear(self) -> None:
        for one in self.work.iterdir():
            shutil.rmtree(one) if one.is_dir() and not one.is_symlink() else one.unlink()

    def _pass(self, stage: str) -> Iterator[Chunk]:
        rows = malformed = 0
        for chunk in chunks(self.path, self.schema):
            rows, malformed = rows + len(chunk), malformed + chunk.malformed_count
            for observer in self.observers:
                observer(Progress(stage, rows, malformed))
            yield chunk

    def _learn(self, where: Plan) -> Preprocessing:
        fitting, parts = Fitting(self.schema), Parts(self.schema, where)
        with ThreadPoolExecutor(THREADS) as pool:
            for chunk in self._pass("learn"):
                fitting.add(chunk, parts.of(chunk) == 0, pool)
        if not fitting.rows:
            raise DataError(f"{self.path}: no row is for training; see the schema's split, {dict(self.schema.split)}")
        return fitting.done()

    def _write(self, found: Preprocessing, where: Plan) -> None:
        parts = Parts(self.schema, where)
        widths = {"dense": found.dense, "sparse": len(found.vocabularies), "labels": None}
        files = {
            (part, what): Growing(self.work / f"{part}.{what}.npy", KINDS[what], widths[what])
            for part in PARTS
            for what in KINDS
        }
        yes, left, count, first = dict.fromkeys(PARTS, 0), 0, 0, list[Malformed]()
        for chunk, encoded in self._encoded(found):
            count += chunk.malformed_count
            first = [*first, *chunk.malformed][:REMEMBERED]
            belongs = parts.of(chunk)
            left += int((belongs < 0).sum())
            for number, part in enumerate(PARTS):
                rows = np.flatnonzero(belongs == number)
                for what, array in zip(KINDS, encoded, strict=True):
                    files[part, what].add(array[rows])  # type: ignore[index]
                yes[part] += int(encoded[2][rows].sum())  # type: ignore[index]
        told = {file.path.name: file.close() for file in files.values()}
        sizes = {part: files[part, "labels"].rows for part in PARTS}
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "asked": self.asked,
            "preprocessing": found.fingerprint,
            "rows": sizes,
            "yes": yes,
            "left_out": left,
            "malformed": {"count": count, "first": [asdict(one) for one in first]},
            "files": told,
        }
        if not any(sizes.values()):
            raise DataError(f"{self.path}: there is no row that can be used; {count:,} are malformed")
        if source_of(self.path) != self.asked["source"]:
            (self.work / "learnt.json").unlink()
            raise DataError(f"{self.path}: was changed while it was read; prepare it again")
        write_whole(self.work / MANIFEST, json.dumps(manifest, indent=1) + "\n")

    def _encoded(self, found: Preprocessing) -> Iterator[tuple[Chunk, Encoded]]:
        """Chunks with what they become, one ahead of the other."""
        with ThreadPoolExecutor(1) as pool:
            before = None
            for chunk in self._pass("write"):
                coming = chunk, pool.submit(found.encode, chunk)
                if before is not None:
                    yield before[0], before[1].result()
                before = coming
            if before is not None:
                yield before[0], before[1].result()
