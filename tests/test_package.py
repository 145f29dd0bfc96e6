"""The package as a whole: light to import, typed, its public names there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import foresee


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
