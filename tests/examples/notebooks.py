"""Notebooks as tests run them: every cell, in a kernel of this interpreter that finds what this process finds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient


class ThisInterpreter(AsyncKernelManager):
    """A kernel without a kernelspec: nothing has to be installed for Jupyter."""

    @property
    def kernel_spec(self):
        from jupyter_client.kernelspec import KernelSpec

        return KernelSpec(
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], language="python"
        )


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs; a cell that raises ends it. Its files, and what Jupyter keeps, are in `folder`."""
    notebook = nbformat.read(path, as_version=4)
    work = folder / "work"
    work.mkdir()
    home = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    env = {**os.environ, **home, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": os.pathsep.join(sys.path)}
    env.pop("MPLBACKEND", None)
    manager = ThisInterpreter(connection_file=str(folder / "kernel.json"))
    client = NotebookClient(notebook, km=manager, timeout=300, resources={"metadata": {"path": str(work)}})
    client.execute(env=env)
    return notebook
