"""`python -m perf`, or `make perf`: measure all of it, or the files that are named, and show it beside the past.

    python -m perf [file ...] [--device cpu cuda] [--repeats 5] [--threads 1] [--quick] [--no-history]

Every device that is there is measured. The table goes to the terminal, to runs/perf/table.md and runs/perf/table.html, and a
line for each device to perf/history.jsonl. The exit code is 1 where a ratio got worse by more than a fifth, is more than was
promised, or a file failed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # before numpy and torch are imported
    os.environ.setdefault(name, "1")

from perf.harness import How, Row, SkippedError, history, suite, table  # noqa: E402

OUT = Path("runs/perf")


def main(arguments: list[str] | None = None) -> int:
    """Run it."""
    options = argparse.ArgumentParser(prog="python -m perf", description=(__doc__ or "").split("\n", 1)[0])
    options.add_argument("files", nargs="*", help="files of perf/ without their ending; by default all that measure")
    options.add_argument("--device", nargs="+", default=None, help="by default every one that is there")
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--quick", action="store_true", help="small sizes, for a look; not for the history")
    options.add_argument("--no-history", action="store_true", help="do not add to perf/history.jsonl")
    options.add_argument("--child", help=argparse.SUPPRESS)
    chosen = options.parse_args(arguments)
    if chosen.child:
        try:
            for row in suite.here(chosen.files[0], How(**json.loads(chosen.child))):
                print(suite.written(row), flush=True)
        except SkippedError as error:
            print(f"{suite.SKIPPED}{error}")
        return 0
    known = {part.name: part for part in suite.parts()}
    wrong = [name for name in chosen.files if name not in known]
    if wrong:
        print(f"perf: {', '.join(wrong)}: nothing to measure; there are {', '.join(known)}", file=sys.stderr)
        return 2
    parts = [known[name] for name in chosen.files or known]
    red = False
    for device in chosen.device or _devices():
        red |= _measured(parts, How(device, chosen.threads, chosen.repeats, chosen.quick), keep=not chosen.no_history)
    return 1 if red else 0


def _devices() -> list[str]:
    import torch

    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def _measured(parts: list[suite.Part], how: How, *, keep: bool) -> bool:
    """Measure all parts on one device, show it and remember it; whether anything is red."""
    rows: dict[str, list[Row]] = {}
    failed: dict[str, str] = {}
    began = time.perf_counter()
    for part in parts:
        if how.device in part.devices:
            start = time.perf_counter()
            rows[part.name], why = suite.apart(part, how)
            failed |= {part.name: why} if why else {}
            print(f"{part.name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    if not rows:
        return False
    run = history.now_run(rows, how.device)
    alike = [one for one in history.read() if (one.machine, one.device) == (run.machine, run.device)]
    found = list(table.lines(rows, {one.name: one.heading for one in parts}, history.past(alike, run), alike, failed))
    title = f"{run.device} ({run.machine}), {run.date}, {time.perf_counter() - began:.0f} s"
    print(f"\n{title}\n\n{table.terminal(found, colour=sys.stdout.isatty() or bool(os.environ.get('FORCE_COLOR')))}")
    OUT.mkdir(parents=True, exist_ok=True)
    ending = "" if how.device == "cpu" else f"-{how.device}"
    (OUT / f"table{ending}.md").write_text(table.markdown(found, title))
    (OUT / f"table{ending}.html").write_text(table.page(found, title))
    if keep and not how.quick and not failed:
        history.append(run)
    return any(line.red for line in found)


if __name__ == "__main__":
    sys.exit(main())
