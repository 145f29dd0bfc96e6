"""The examples of property tests, and the folder with real data.

The folder comes from the environment, or lies beside the project; absent means skipped.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import properties

if "PYTEST_XDIST_WORKER" in os.environ:  # workers side by side: with several threads each they would wait for others
    os.environ.setdefault("OMP_NUM_THREADS", "1")
properties.load()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background: the programs we start must hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHECKS = (
    'checks(*proxies, by="a slow float64 version"): compares these proxies with a reference, which their pages name'
)
BESIDE = Path(__file__).resolve().parents[2] / "shared"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", CHECKS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of the list are slow, as those that are marked where they stand."""
    slow = set((Path(__file__).parent / "slow.txt").read_text().splitlines())
    for item in items:
        if item.nodeid.partition("[")[0] in slow:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _prepared_logs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Click logs that are prepared on the way are kept with the other files of the tests, not in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORESEE_PREPARED", str(tmp_path_factory.mktemp("prepared")))
        yield


def _folder(variable: str, default: Path) -> Path:
    folder = Path(os.environ.get(variable) or default)
    if not folder.is_dir():
        pytest.skip(f"no folder {folder.name!r} here: set {variable} to where it is")
    return folder


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real images, click logs and benchmark tables."""
    return _folder("FORESEE_DATA", BESIDE / "data")
