"""Which kind of result lies at a path, and its page: a run, a bench, a calibration, a comparison, a training, an ensemble, a
defence, an explanation.
"""

from __future__ import annotations

from pathlib import Path

from foresee.errors import RunError
from foresee.runs.folder import RunFolder, is_there

_CHECKPOINTS = tuple(f"{name}.{kind}" for name in ("best", "last") for kind in ("safetensors", "json"))
#: kind of result -> the file that it is known by, and the other files that are its own
FILES = {
    "run": (RunFolder.STORE, RunFolder.SETTINGS, RunFolder.BEST, RunFolder.FRONT),
    "bench": ("bench.json", "correlations.csv", "scores.csv", "scores.sqlite", RunFolder.SETTINGS),
    "calibration": ("calibration.json", "predictions.csv", "scores.sqlite"),
    "comparison": ("compare.json", "picks.csv", "curves.csv", "scores.sqlite", RunFolder.SETTINGS),
    "training": ("training.json", "architecture.json", *_CHECKPOINTS),
    "ensemble": (
        *("settings.json", "selected.json", "measures.json", "predictions.npz", "posterior.json", "seconds.json"),
        *("ensemble.json", "ensemble.safetensors"),
    ),
    "ensembles": ("comparison.json",),
    "defence": ("defence.json",),
    "explanation": ("explain.json", "study.json", "scores.sqlite"),
}
#: where the page of a result lies that is not called a report
PAGES = {"explanation": "explain.html"}


def kind_at(path: Path) -> str:
    """What it is, by the file that is there: the path is its folder, or the file."""
    if not is_there(path):
        raise RunError(
            f"{path}: there is no run here, and no bench, training, ensemble, defence or explanation "
            f"({RunFolder.STORE} is missing)"
        )
    if not path.is_dir():
        return next((kind for kind, files in FILES.items() if files[0] == path.name), "run")
    found = [kind for kind, files in FILES.items() if is_there(path / files[0])]
    if not found:
        raise RunError(
            f"{path}: there is no run here ({RunFolder.STORE} is missing), and no bench, training, ensemble, defence or "
            "explanation"
        )
    if len(found) > 1:
        files = ", ".join(str(path / FILES[kind][0]) for kind in found)
        raise RunError(f"{path}: holds a {' and a '.join(found)}: name one of {files}")
    return found[0]


def folder_of(path: Path) -> Path:
    """The folder of a result that is named by it, or by its file."""
    return path if path.is_dir() else path.parent


def page_at(path: Path) -> Path:
    """Where the page of the one result at a path is written."""
    return folder_of(path) / PAGES.get(kind_at(path), "report.html")


def own_files(path: Path) -> list[Path]:
    """What must not be overwritten: the files that the result is kept in."""
    return [path, *(folder_of(path) / name for name in FILES[kind_at(path)])]


def page_of(path: Path, space: str | None = None) -> str:
    """The page of the one result at a path; `space` is the code of an own space, where the person named it."""
    kind, folder = kind_at(path), folder_of(path)
    if kind == "run":
        from foresee.report.html import render
        from foresee.runs import read
        from foresee.searchers.run import Run

        record = read(path)
        return render(record, folder, None if space is None else Run(record, folder, space).made_space)
    if kind == "training":
        from foresee.report import training

        return training.render(training.opened(folder))
    if kind == "ensemble":
        from foresee.ensembles.finding import EnsembleRun
        from foresee.report import ensemble

        return ensemble.render(EnsembleRun.load(folder))
    if kind == "ensembles":
        from foresee.report import ensembles_compared

        return ensembles_compared.render(ensembles_compared.opened(folder))
    if kind == "explanation":
        from foresee.report import explained

        ones, study = explained.opened(folder)
        return explained.render(*ones, study=study)
    if kind == "defence":
        from foresee.report import defence

        return defence.render(defence.opened(folder))
    from foresee.benchmarks.contest.opening import open_contest
    from foresee.benchmarks.opening import open_bench, open_calibration
    from foresee.report import bench, calibrate, contest

    if kind == "bench":
        return bench.render(open_bench(folder))
    if kind == "comparison":
        return contest.render(open_contest(folder))
    return calibrate.render(open_calibration(folder))
