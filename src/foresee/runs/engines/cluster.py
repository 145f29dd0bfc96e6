"""Being part of a Ray cluster: joined where there is one, started where there is none, left as it was found.

`RAY_ADDRESS` says which: `host:port`, or `auto` for the one that runs on this machine. Without it a cluster of this machine
alone is started, and ends with us however we end. A program that has called `ray.init` itself stays in what it has joined.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import ceil
from types import ModuleType
from typing import Any

from foresee.errors import InputError, RunError, said
from foresee.extras import need

#: names the cluster to join
ADDRESS = "RAY_ADDRESS"
#: addresses of a cluster that is to be started here
HERE = ("", "local")
#: seconds in which a cluster must answer
ANSWER = 10.0
#: what Ray does not print on our terminal
SILENCE = "RAY_DEDUP_LOGS_SKIP_REGEX"
#: what begins like this belongs to us, and goes with a worker to its machine
OURS = "FORESEE_"


class Cluster:
    """A Ray cluster, joined when it is first asked for something; `leave` ends what was started.

    `workers` is how many a person asked for, `device` where they compute: on `cuda` each has a card of its own, or, where
    more are asked for than there are cards, an equal share of one. An address where nobody answers is said when it is made.
    """

    def __init__(self, workers: int | None, device: str = "cpu") -> None:
        self.ray: Any = _library()
        self._asked, self._joined, self._ours = workers, False, False
        self.gpus = device.split(":")[0] == "cuda"
        if self.gpus and ":" in device:
            raise InputError(
                f"device {device}: on a cluster each worker has a card of its own; say cuda, without a number"
            )
        self._address = os.environ.get(ADDRESS, "").strip()
        if self._address not in HERE and not self.ray.is_initialized():
            _check(self._address)

    def join(self) -> Any:
        """The library, joined to the cluster."""
        if not self._joined and not self.ray.is_initialized():
            self._enter(self._address)
            self._ours = True
        self._joined = True
        return self.ray

    def leave(self) -> None:
        """Out of it again, if we are in it; a cluster that we started ends."""
        if self._ours:
            with _handlers_kept():
                self.ray.shutdown()
        self._joined = self._ours = False

    @property
    def places(self) -> int:
        """How many workers the cluster has room for: one for each core, or for each card."""
        return int(self.join().cluster_resources().get("GPU" if self.gpus else "CPU", 0))

    @property
    def needs(self) -> dict[str, float]:
        """What one worker takes of a machine, as options of an actor."""
        if not self.gpus:
            return {"num_cpus": 1}
        return {"num_cpus": 0, "num_gpus": 1 / max(1, ceil((self._asked or 1) / max(1, self.places)))}

    def in_words(self) -> str:
        """What there is."""
        there = self.ray.cluster_resources()
        alive = sum(node["Alive"] for node in self.ray.nodes())
        return f"{alive} machines, {there.get('CPU', 0):g} cores, {there.get('GPU', 0):g} GPUs"

    def _enter(self, address: str) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # a warning about what is to come
        if address in HERE:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            quiet |= {"address": "local", "include_dashboard": False, "num_cpus": self._asked or os.cpu_count() or 1}
        else:
            quiet["address"] = address
        try:
            with _handlers_kept():
                self.ray.init(**quiet)
        except BaseException as error:
            with suppress(Exception):
                self.ray.shutdown()
            if not isinstance(error, Exception):
                raise
            raise RunError(_excuse(address, said(error))) from error


def _excuse(address: str, why: str) -> str:
    if address in HERE:
        return f"Ray could not be started on this machine ({why}); the engine processes needs no Ray"
    return (
        f"the Ray cluster {ADDRESS}={address} could not be joined ({why}); `ray status --address {address}` says whether it "
        f"is there, `ray start --head` on its first machine starts it, and without {ADDRESS} this machine works alone"
    )


def _check(address: str) -> None:
    """Somebody listens at the address: Ray itself would ask again and again for many minutes."""
    if address.startswith("ray://"):
        raise InputError(
            f"{ADDRESS}={address}: run the command on a machine of the cluster (or by `ray job submit`), with auto or "
            "host:port"
        )
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise InputError(f"{ADDRESS}={address}: expected host:port, such as 10.0.0.1:6379, or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        raise RunError(_excuse(address, said(error))) from error


def _library() -> ModuleType:
    """Ray, told while it is imported to keep its remarks on dead workers to itself: they are replaced, or it is said."""
    said_before = SILENCE in os.environ
    os.environ.setdefault(SILENCE, ".")
    try:
        return need("ray")
    finally:
        if not said_before:
            del os.environ[SILENCE]


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Ray puts an answer of its own to a polite kill in the place of ours."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)


def home() -> tuple[str, list[str], dict[str, str]]:
    """Where we are: folder, places where code is looked for, and what the environment says to us."""
    places = [os.path.abspath(one) for one in sys.path]
    return os.getcwd(), places, {name: value for name, value in os.environ.items() if name.startswith(OURS)}


def worker_class() -> type[Any]:
    """The class of a worker. It travels as it is, so that it can say where code is looked for before ours is imported."""

    class Worker:
        """A process of the cluster that holds the work, with all that it makes for itself, and does group after group."""

        def __init__(self, folder: str, places: list[str], environment: dict[str, str]) -> None:
            import os
            import signal
            import sys

            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C belongs to the one who asked
            os.environ.update(environment)
            own = [one for one in sys.path if one not in places and os.path.abspath(one) != folder]
            sys.path[:] = [one for one in places if os.path.exists(one)] + own
            if os.path.isdir(folder):  # the same file system, or one that looks like it
                os.chdir(folder)

        def begin(self, sealed: bytes) -> str:
            """Make the work ready; what is in the way, where it cannot be."""
            try:
                from foresee.runs.engines.sealed import opened

                self.work = opened(sealed)
            except BaseException as error:
                return f"{type(error).__name__}: {error}"
            return ""

        def do(self, sealed: list[bytes]) -> tuple[float, list[tuple[bytes | None, str | None]]]:
            """Seconds that these took, and for each of them its value or the error that ended it."""
            import time

            from foresee.runs.engines.sealed import answer

            start = time.perf_counter()
            found = [answer(self.work, one) for one in sealed]
            return time.perf_counter() - start, found

    return Worker
