"""What is kept of a broken promise: a script that repeats the case, and beside it the files of the case."""

from __future__ import annotations

import shutil
from pathlib import Path

from hostile.cases import Attempt, Case, Outcome, finished
from hostile.kind import load

#: files of a case are kept up to this size; the script makes them again in any case
MOST_BYTES = 8 * 2**20

_SCRIPT = '''"""Repeats a case of the hostile campaign that broke: {name}.

Promise: {promise}

What was seen:

{words}
"""

import sys

sys.path[:0] = [{root!r}, {source!r}]

from hostile.failures import repeat

sys.exit(repeat({kind!r}, seed={seed}, number={number}))
'''


class Failures:
    """The folder for scripts and files, `runs/hostile` below the project's root."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def keep(self, outcome: Outcome, *, whole: bool) -> Path:
        """Write the script, and what was seen; with `whole`, keep the files of the case as well."""
        case = outcome.case
        script = self.folder / f"{case.name}.py"
        script.write_text(
            _SCRIPT.format(
                name=case.name,
                promise=_plain(case.kind.promise),
                words=_plain(outcome.words),
                root=str(ROOT),
                source=str(ROOT / "src"),
                kind=case.kind.name,
                seed=case.seed,
                number=case.number,
            )
        )
        files = self.folder / case.name
        shutil.rmtree(files, ignore_errors=True)
        if whole and _size(outcome.folder / "case") <= MOST_BYTES:
            shutil.copytree(outcome.folder / "case", files, symlinks=True, ignore=_only_files)
        return script


#: the project's root
ROOT = Path(__file__).resolve().parents[1]


def repeat(kind: str, *, seed: int, number: int, room: str = "hostile.kinds") -> int:
    """Try one case again and say what became of it; its folder stays for looking into. 1 where it broke, else 0."""
    outcome = finished(Attempt(Case(load(kind, room), seed, number)))
    print(outcome.words or f"{outcome.case.name} held in {outcome.seconds:.1f} s")
    print(f"its files: {outcome.folder / 'case'}")
    return 0 if outcome.held else 1


def _plain(words: str) -> str:
    """Words that can stand in the docstring of a script whatever a hostile case put into them."""
    return ascii(words)[1:-1].replace("\\n", "\n").replace('"', "'").replace("\\", "\\\\")


def _size(folder: Path) -> int:
    return sum(one.lstat().st_size for one in folder.rglob("*") if not one.is_symlink() and one.is_file())


def _only_files(folder: str, names: list[str]) -> list[str]:
    """What cannot be copied: pipes and the like."""
    return [name for name in names if not ((one := Path(folder, name)).is_symlink() or one.is_file() or one.is_dir())]
