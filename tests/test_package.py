"""The package as a whole: light to import, typed, its public names there, and a wheel that works for a stranger."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from email import message_from_bytes
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import foresee
from foresee.searchers.presets import names as presets

ROOT = Path(__file__).parents[1]


def test_every_public_name_is_there():
    for name in foresee.__all__:
        assert getattr(foresee, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        foresee.nothing  # noqa: B018


def test_heavy_libraries_are_imported_late():
    code = "import sys, foresee, foresee.proxies, foresee.spaces, foresee.data, foresee.searchers; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "torch" in loaded
    assert not loaded & {"matplotlib", "sklearn", "scipy", "jinja2", "rich", "typer", "PIL", "pandas"}


def test_importing_foresee_alone_does_not_import_torch():
    code = "import sys, foresee; print('torch' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )


def test_it_says_that_it_is_typed():
    assert (Path(foresee.__file__).parent / "py.typed").exists()


# -- the wheel, as a stranger gets it ------------------------------------------------------------------------------------


def checkout(to: Path) -> Path:
    """The project's files as a fresh clone has them: no build folders, no caches, nothing that git does not know."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("a clean checkout is made with git, and this is no clone")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)
    return to


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a clean checkout with the setuptools at hand, without the network."""
    if importlib.util.find_spec("setuptools") is None or importlib.util.find_spec("pip") is None:
        pytest.skip("pip and setuptools are needed to build a wheel without the network")
    folder = tmp_path_factory.mktemp("wheel")
    command = ["wheel", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir", str(folder)]
    run([sys.executable, "-m", "pip", *command, str(checkout(folder / "checkout"))])
    (found,) = folder.glob("*.whl")
    return found


def run(command: list[str], **options: Any) -> str:
    """What a command prints; it must succeed, and it knows nothing of this checkout."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=540, env=clean, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needed(names: Iterable[str]) -> dict[str, metadata.Distribution]:
    """The distributions that these requirements bring, and what those need, without any extra that nobody asked for."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [Requirement(name) for name in names]
    while waiting:
        wanted = waiting.pop()
        key = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if (wanted.marker is not None and not wanted.marker.evaluate({"extra": ""})) or key in found:
            continue
        found[key] = metadata.distribution(key)
        assert found[key].version in wanted.specifier, f"{key} {found[key].version} is not {wanted}"
        waiting += map(Requirement, found[key].requires or ())
    return found


@pytest.fixture(scope="module")
def stranger(wheel, tmp_path_factory) -> Path:
    """`bin` of an environment that holds the wheel and what it needs, as installed here, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])  # which takes longest; ours installs there, too
    (site,) = folder.glob("lib/python*/site-packages")
    required = [line for line in metadata_of(wheel).get_all("Requires-Dist") if "extra ==" not in line]
    for one in needed(required).values():
        for top in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(one.locate_file(top))))
    there = ["--python", str(folder / "bin" / "python")]
    run([sys.executable, "-m", "pip", *there, "install", "--quiet", "--no-index", "--no-deps", str(wheel)])
    return folder / "bin"


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    folder = wheel.parent / "checkout" / "src"
    assert names == {str(path.relative_to(folder)) for path in (folder / "foresee").rglob("*") if path.is_file()}
    assert {"foresee/py.typed", "foresee/report/templates/report.html", "foresee/papers/numbers.json"} <= names
    assert {f"foresee/searchers/presets/{one}.toml" for one in presets()} <= names


@pytest.mark.slow
def test_the_wheel_alone_scores_searches_and_writes_a_report(stranger, tmp_path):
    code = """
import importlib.util, foresee as fs, torch
from torch import nn
assert not [n for n in ("pytest", "hypothesis", "mypy", "botorch", "tests") if importlib.util.find_spec(n)]
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 900, 10))
print(fs.__file__, fs.score(net, fs.data.load("digits").batch(16, seed=0)).status)
"""
    where, status = run([str(stranger / "python"), "-c", code], cwd=tmp_path).split()
    assert Path(where).is_relative_to(stranger.parent)
    assert status == "ok"
    small = ["--set", "nasbench201.channels=2", "--set", "nasbench201.cells=1"]
    asked = ["search", "nasbench201", "--evaluations", "3", "--engine", "processes", "--out", "runs/a", *small]
    assert "best" in run([str(stranger / "foresee"), *asked], cwd=tmp_path)
    page = (tmp_path / "runs" / "a" / "report.html").read_text(encoding="utf-8")
    assert "</html>" in page
    for command in (
        ["score", "torch.nn:Flatten", "--input", "3x8x8", "--proxy", "params"],
        ["paper", "list"],
        ["doctor"],
    ):
        assert run([str(stranger / "foresee"), *command], cwd=tmp_path).strip()
    run([sys.executable, "-m", "pip", "--python", str(stranger / "python"), "check"])
