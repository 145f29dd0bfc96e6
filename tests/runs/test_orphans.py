"""The process that workers are forked from ends with its parent, also in the middle of its imports."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
PARENT = """
import os, time
from foresee.runs.engines import get_ready

get_ready("slow_to_import")
while not os.path.exists("began"):
    time.sleep(0.01)
os._exit(0)
"""


def test_it_ends_in_the_middle_of_an_import(tmp_path):
    (tmp_path / "slow_to_import.py").write_text(
        "import os, time\nopen('began', 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", PARENT], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, timeout=60, check=True
    )
    pid, deadline = int((tmp_path / "began").read_text()), time.monotonic() + 15
    while _runs(pid):
        assert time.monotonic() < deadline, "it imports on, and its parent is gone"
        time.sleep(0.02)


def test_elsewhere_importing_the_file_does_nothing():
    code = "import signal, ctypes, foresee.runs.orphans as o; n = ctypes.c_int(7); "
    code += "ctypes.CDLL(None).prctl(2, ctypes.byref(n)); print(n.value)"  # 2 asks which signal it is
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
