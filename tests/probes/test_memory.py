"""What proxies will take is known before they begin, and what is too much is not begun."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

import foresee as fs
from foresee.errors import InputError
from foresee.probes import Probe
from foresee.probes.kernel.heads import Question
from foresee.probes.kernel.plan import plan
from foresee.probes.memory import stored_at_most, stored_by
from foresee.probes.splitting import predicted_bytes
from foresee.proxies import get

#: predicted over measured: never much less, and not so much more that what fits is refused
LEAST, MOST = 0.8, 6.0
#: blocks of any size are given back when they are freed: by default glibc moves this bound as it runs, keeps what was
#: freed, and the same look peaks anywhere within a third of itself
HEAP = {"MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}


class UNet(nn.Module):
    """Dense outputs: two classes for every position."""

    def __init__(self, width=16, norm=False):
        super().__init__()

        def block(before, after):
            scale = nn.BatchNorm2d(after) if norm else nn.GroupNorm(4, after)
            return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), scale, nn.ReLU())

        self.down, self.deep = block(3, width), nn.Sequential(block(width, 2 * width), block(2 * width, 2 * width))
        self.up, self.join = nn.ConvTranspose2d(2 * width, width, 2, stride=2), block(2 * width, width)
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        first = self.down(x)
        deep = self.deep(nn.functional.max_pool2d(first, 2))
        return self.head(self.join(torch.cat([self.up(deep), first], 1)))


def convolutions():
    parts = []
    for before, after in ((3, 16), (16, 32), (32, 64)):
        parts += [
            nn.Conv2d(before, after, 3, padding=1, stride=2 if before > 3 else 1),
            nn.BatchNorm2d(after),
            nn.ReLU(),
        ]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.embed, self.body = nn.Embedding(100, 64), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 5)

    def forward(self, x):
        return self.head(self.body(self.embed(x)).mean(1))


def subject(kind, samples, size):
    """A network with a batch for it."""
    torch.manual_seed(0)
    if kind == "transformer":
        return Transformer(), (torch.randint(100, (samples, size)), torch.arange(samples) % 5)
    images = torch.randn(samples, 3, size, size)
    if kind == "unet":
        return UNet(), (images, torch.randint(2, (samples, size, size)))
    return convolutions(), (images, torch.arange(samples) % 10)


MEASURE = """
    import os
    import sys
    import torch
    import foresee as fs
    from foresee.probes import Probe
    from foresee.proxies import get
    from tests.probes.test_memory import subject

    def most():
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

    kind, samples, size, *names = sys.argv[1:]
    torch.set_num_threads(1)
    for name in names:
        if os.fork() != 0:  # a process each: what one leaves free, the next would take unseen
            assert os.wait()[1] == 0, name
            continue
        fs.score(*subject(kind, 4, 16), name, memory=float("inf"))  # libraries are loaded
        network, batch = subject(kind, int(samples), int(size))
        predicted = get(name).predicted_bytes(Probe(network, batch))
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = most()
        found = fs.score(network, batch, name, memory=float("inf"))
        assert found.status in ("ok", "rank_deficient"), found
        print(name, predicted / (most() - before), flush=True)
        os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the greatest memory in use is read from /proc")
@pytest.mark.parametrize(
    ("kind", "samples", "size", "names"),
    [
        ("convolutions", 32, 64, "grad_norm foresee fisher jacov naswot zico az_expressivity grasp"),
        ("transformer", 16, 128, "grad_norm foresee grasp ntk_cond"),
        ("unet", 8, 64, "grad_norm foresee curvature dextr meco synflow ntk_cond"),
    ],
)
def test_predicted_peaks_are_near_the_measured_ones(kind, samples, size, names):
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), kind, str(samples), str(size), *names.split()]
    made = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **HEAP})
    assert made.returncode == 0, made.stderr
    ratios = {line.split()[0]: float(line.split()[1]) for line in made.stdout.splitlines()}
    assert sorted(ratios) == sorted(names.split())
    assert all(LEAST < ratio < MOST for ratio in ratios.values()), ratios


@pytest.mark.parametrize("kind", ["convolutions", "transformer", "unet"])
def test_what_is_counted_at_once_bounds_what_a_run_stores(kind):
    network, batch = subject(kind, 4, 32)
    probe = Probe(network, batch)
    assert stored_by(probe, 4) == predicted_bytes(network, batch)
    assert stored_by(probe, 4) <= stored_at_most(probe, 4)
    assert stored_by(probe, 2) < stored_by(probe, 4)


def test_a_network_that_needs_numbers_is_run_on_two_samples():
    class Branching(nn.Linear):
        def forward(self, x):
            return super().forward(x) if float(x.sum()) > -1e9 else x

    probe = Probe(Branching(4, 3), torch.zeros(8, 4))
    assert 0 < stored_by(probe, 4) < stored_by(probe, 8)


@pytest.mark.parametrize("norm", [True, False])
def test_dense_outputs_do_not_take_rows_times_outputs(norm):
    """Of the U-Net that took 24 GB: all directions of all samples at once were (samples x outputs)^2 numbers."""
    network, (images, _) = UNet(8, norm), subject("unet", 16, 32)[1]
    probe = Probe(network, images)
    assert plan(probe, Question("all", "all", answer="lengths")).bytes < 2**29
    small = Probe(UNet(4, norm), images[:2, :, :4, :4])
    assert small.batch.outputs[0].numel() == 32
    assert fs.score(small.network, images[:2, :, :4, :4], "ntk_trace").ok


def test_what_would_take_too_much_is_not_begun():
    runs = []
    network, batch = subject("convolutions", 8, 32)
    network.register_forward_pre_hook(lambda _, inputs: runs.append(inputs[0].device.type))
    found = fs.scores(network, batch, ["snip", "params"], memory="1MiB")
    assert set(runs) <= {"meta"}  # it ran without numbers only
    assert found["params"].ok
    assert found["snip"].status == "out_of_memory"
    needed = get("snip").predicted_bytes(Probe(network, batch))
    assert found["snip"].reason.startswith("would need about ")
    assert 'more than 1 MiB: take a smaller batch, or allow it (memory="' in found["snip"].reason
    allowed = found["snip"].reason.split('memory="')[1].split('"')[0]
    assert fs.score(network, batch, "snip", memory=allowed).ok  # what the message says to write is enough
    assert fs.score(network, batch, "snip", memory=needed).ok
    assert fs.score(network, batch, "snip", memory=needed - 1).status == "out_of_memory"


@pytest.mark.parametrize(
    "name", ["ntk_trace", "ntk_cond", "ntk_cond:full", "m_trace", "m_knas", "hnas", "nasi_sum", "m_grasp"]
)
def test_kernels_are_refused_too(name):
    network, batch = subject("convolutions", 4, 16)
    assert fs.score(network, batch, name, memory=1000).status == "out_of_memory"
    assert fs.score(network, batch, name).ok or name == "ntk_cond:full"


def test_half_of_what_is_free_by_default(monkeypatch):
    network, batch = subject("convolutions", 64, 64)
    needed = get("snip").predicted_bytes(Probe(network, batch))
    monkeypatch.setattr("foresee.probes.memory.free_bytes", lambda device: 1.9 * needed)
    assert fs.score(network, batch, "snip").status == "out_of_memory"
    monkeypatch.setattr("foresee.probes.memory.free_bytes", lambda device: 2.1 * needed)
    assert fs.score(network, (batch[0][:8], batch[1][:8]), "snip").ok


@pytest.mark.parametrize("memory", ["much", "-1GiB", 0, -5, True, "8 apples", float("nan")])
def test_a_bound_that_is_none_is_refused(memory):
    with pytest.raises(InputError, match="expected a number of bytes such as 8GiB"):
        fs.scores(nn.Linear(2, 2), torch.zeros(1, 2), memory=memory)


def test_networks_are_ranked_within_a_bound():
    network, batch = subject("convolutions", 8, 32)
    found = fs.rank({"a": network, "b": network}, batch, "snip", memory="1MiB")
    assert {one["snip"].status for one in found.scores.values()} == {"out_of_memory"}
