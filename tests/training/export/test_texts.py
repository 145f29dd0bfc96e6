"""`use.py` runs the model in a process that has no foresee, and notices outputs that are others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.training.export.made import small, trained

import foresee as fs

#: foresee cannot be imported, and nothing of the environment leads to it
ALONE = "import sys; sys.modules['foresee'] = None; import runpy; runpy.run_path('use.py', run_name='__main__')"


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "-c", ALONE], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["torch_export", "onnx"])
def test_it_runs_without_foresee(tmp_path: Path, form: str) -> None:
    if form == "onnx":
        pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
    made = fs.export(trained(small()), tmp_path / "out", [form], pixels=True)
    done = run(made.folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("logits (2, 3), largest difference ")
    assert "sample 1: " in done.stdout
    assert done.stdout.splitlines()[1].split(": ")[1] in ("cat", "dog", "emu")
    example = dict(np.load(made.folder / "example.npz"))
    np.savez(made.folder / "example.npz", **{**example, "logits": example["logits"] + 1})
    assert run(made.folder).returncode == 1


def test_weights_alone_need_foresee(tmp_path: Path) -> None:
    made = fs.export(trained(small()), tmp_path / "out", ["safetensors"])
    text = (made.folder / "use.py").read_text()
    assert "needs foresee" in text
    compile(text, "use.py", "exec")
    assert run(made.folder).returncode != 0


def test_the_readme_says_what_goes_in(tmp_path: Path) -> None:
    made = fs.export(trained(small()), tmp_path / "out", ["safetensors"])
    text = (made.folder / "README.md").read_text()
    assert "float32 (N, 3, 8, 8), normalised as model.json says" in text
    assert "mean 0.5, 0.4, 0.3; std 0.2, 0.25, 0.3 (do it before)" in text
    assert "cat, dog, emu" in text
    assert "| `model.safetensors` |" in text
