"""The suite: every file of perf/ that has a function `measure`, each in a process of its own.

So peak memory is a file's own, threads are as it wants them, and one that crashes or hangs is a red row and not the end.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from perf.harness.rows import How, Row

ROOT = Path(__file__).parent.parent
#: what a file may take where it does not say so, and how many times that before it is ended
SECONDS, PATIENCE = 40.0, 8.0
#: how lines begin that a child writes
MARK, SKIPPED = "perf row: ", "perf skipped: "


@dataclass(frozen=True)
class Part:
    """A file that measures: its name, what it measures in words, how long it may take, and where it makes sense."""

    name: str
    heading: str
    seconds: float = SECONDS
    devices: tuple[str, ...] = ("cpu",)


def parts(root: Path = ROOT) -> list[Part]:
    """All of them, by name; nothing is imported, so one that cannot be is found too."""
    return [found for path in sorted(root.glob("*.py")) if (found := _part(path)) is not None]


def _part(path: Path) -> Part | None:
    tree = ast.parse(path.read_text())
    if not any(isinstance(node, ast.FunctionDef) and node.name == "measure" for node in tree.body):
        return None
    said = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("SECONDS", "DEVICES")
    }
    heading = (ast.get_docstring(tree) or "").split("\n", 1)[0].rstrip(".")
    return Part(path.stem, heading, float(said.get("SECONDS", SECONDS)), tuple(said.get("DEVICES", ("cpu",))))


def here(name: str, how: How) -> Iterator[Row]:
    """The rows of one file, measured in this process."""
    import torch

    torch.set_num_threads(how.threads)
    yield from import_module(f"perf.{name}").measure(how)


def apart(part: Part, how: How, root: Path = ROOT) -> tuple[list[Row], str]:
    """The rows of one file, measured in a process of its own, and why there are no more of them ("" where all is well)."""
    command = [sys.executable, "-m", "perf", "--child", json.dumps(asdict(how)), part.name]
    limit = PATIENCE * max(part.seconds, 10.0)
    try:
        ended = subprocess.run(command, cwd=root.parent, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
        return rows_in(out.decode() if isinstance(out, bytes) else out), f"not done after {limit:.0f} s"
    rows = rows_in(ended.stdout)
    if ended.returncode == 0 and (rows or SKIPPED in ended.stdout):
        return rows, ""
    last = ended.stderr.strip().splitlines()[-1:] or [f"exit code {ended.returncode}, and no row"]
    return rows, last[0][:300]


def written(row: Row) -> str:
    """A row as a line that is found again among whatever else is printed."""
    return MARK + json.dumps(asdict(row))


def rows_in(text: str) -> list[Row]:
    """The rows that were written in a text."""
    return [Row(**json.loads(line.removeprefix(MARK))) for line in text.splitlines() if line.startswith(MARK)]
