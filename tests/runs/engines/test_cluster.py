"""What needs no cluster: addresses, devices, a library that is not there, and what a worker does with its machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

from foresee.errors import InputError, MissingExtraError, RunError
from foresee.runs.engines import cluster as room
from foresee.runs.engines import make
from foresee.runs.engines.cluster import Cluster, home, worker_class
from foresee.runs.engines.sealed import opened, sealed


def test_without_the_library_its_extra_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"ray is needed here .*pip install 'foresee\[ray\]'"):
        make("ray", abs)
    assert room.SILENCE not in os.environ


ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'foresee[ray]'")


@pytest.mark.parametrize(
    ("address", "error", "said"),
    [
        ("ray://10.0.0.1:10001", InputError, "run the command on a machine of the cluster"),
        ("10.0.0.1", InputError, "expected host:port"),
        ("head:port", InputError, "expected host:port"),
        ("127.0.0.1:1", RunError, "could not be joined .*ConnectionRefused.*`ray start --head`.*without RAY_ADDRESS"),
        ("127.0.0.1:99999", RunError, "could not be joined"),
        ("no.such.host.invalid:6379", RunError, "could not be joined"),
    ],
)
def test_an_address_where_nobody_answers_is_said_at_once(monkeypatch, address, error, said):
    monkeypatch.setenv(room.ADDRESS, address)
    monkeypatch.setattr(room, "ANSWER", 2.0)
    with pytest.raises(error, match=said):  # when an engine is made: no run is begun
        Cluster(1)
    assert not ray.is_initialized()


def test_what_ray_says_becomes_a_sentence_and_handlers_are_ours_again(monkeypatch):
    def fails(**how):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise ConnectionError("nobody is there")

    monkeypatch.setattr(ray, "init", fails)
    before = signal.getsignal(signal.SIGTERM)
    for address, said in (
        ("auto", "RAY_ADDRESS=auto could not be joined"),
        ("", "could not be started on this machine"),
    ):
        monkeypatch.setenv(room.ADDRESS, address)
        with pytest.raises(RunError, match=f"{said} .*nobody is there"):
            Cluster(None).join()
        assert signal.getsignal(signal.SIGTERM) is before


def test_a_cluster_of_this_machine_is_quiet_and_as_large_as_was_asked_for(monkeypatch):
    asked = []
    monkeypatch.delenv(room.ADDRESS, raising=False)
    monkeypatch.setattr(ray, "init", lambda **how: asked.append(how))
    Cluster(5).join()
    Cluster(None).join()
    assert [how["num_cpus"] for how in asked] == [5, os.cpu_count()]
    for how in asked:
        assert (how["address"], how["include_dashboard"], how["log_to_driver"]) == ("local", False, False)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_who_was_in_a_cluster_before_stays_there(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    monkeypatch.setattr(ray, "init", lambda **how: pytest.fail("joined twice"))
    monkeypatch.setattr(ray, "shutdown", lambda: pytest.fail("ended what is another's"))
    one = Cluster(1)
    one.join()
    one.leave()


@pytest.mark.parametrize(
    ("device", "workers", "cards", "needs"),
    [
        ("cpu", 3, 0, {"num_cpus": 1}),
        ("cuda", None, 4, {"num_cpus": 0, "num_gpus": 1}),
        ("cuda", 3, 4, {"num_cpus": 0, "num_gpus": 1}),
        ("cuda", 8, 4, {"num_cpus": 0, "num_gpus": 0.5}),
        ("cuda", 14, 1, {"num_cpus": 0, "num_gpus": 1 / 14}),
        ("cuda", 2, 0, {"num_cpus": 0, "num_gpus": 0.5}),
    ],
)
def test_a_worker_takes_a_core_or_a_card_or_its_share_of_one(monkeypatch, device, workers, cards, needs):
    monkeypatch.setattr(ray, "is_initialized", lambda: True)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 16.0, "GPU": float(cards)})
    one = Cluster(workers, device)
    assert one.places == (cards if device == "cuda" else 16)
    assert one.needs == needs


def test_a_numbered_card_is_refused():
    with pytest.raises(InputError, match=r"device cuda:1: .* say cuda"):
        Cluster(1, "cuda:1")


def test_a_worker_looks_for_code_where_we_do(monkeypatch, tmp_path):
    """And in its own places, but not in the folder that Ray puts first."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("FORESEE_X", "1")
    folder, places, environment = home()
    assert folder == str(tmp_path / "here")
    assert environment["FORESEE_X"] == "1"
    monkeypatch.delenv("FORESEE_X")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder, "/its/own"])
    before = signal.getsignal(signal.SIGINT)
    try:
        made = worker_class()(folder, [*places, "/not/there"], environment)
    finally:
        signal.signal(signal.SIGINT, before)
    assert os.getcwd() == folder
    assert sys.path == [*(one for one in places if os.path.exists(one)), "/its/own"]
    assert os.environ.pop("FORESEE_X") == "1"
    assert made.begin(sealed(abs)) == ""
    seconds, found = made.do([sealed(-2), sealed("a")])
    assert seconds >= 0
    assert [opened(found[0][0]), found[1][1]] == [2, "TypeError: bad operand type for abs(): 'str'"]
    assert made.begin(b"no pickle").startswith("UnpicklingError")


def test_the_class_of_a_worker_travels_without_our_files(tmp_path):
    """So that a worker can say where these are before it imports them; where they are not, that is what it says."""
    (tmp_path / "worker").write_bytes(sealed(worker_class()))
    script = (
        "import sys; sys.modules['foresee'] = None; import ray.cloudpickle\n"
        "kind = ray.cloudpickle.load(open('worker', 'rb'))\n"
        "print(kind('/no/such/folder', [], {}).begin(b''))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("ModuleNotFoundError: No module named 'foresee.runs'"), done.stderr


def test_a_port_that_listens_and_is_no_cluster_is_left_to_ray(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv(room.ADDRESS, f"127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setattr(ray, "init", lambda **how: None)
        Cluster(1).join()
