from __future__ import annotations

import copy
import gc
import math
import random
import re
import weakref

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from foresee.batch import Batch
from foresee.errors import InputError, UnknownNameError
from foresee.proxies import Needs, Probe, names_of, proxies, proxy
from foresee.scoring import rank, score, scores

FIRST = ["dextr", "grad_norm", "macs", "meco", "naswot", "params", "random", "snip", "synflow", "zico"]
LABEL_FREE = ["dextr", "macs", "meco", "naswot", "params", "random", "synflow"]


# -- networks that are not ours -----------------------------------------------------------------------------------------
class TupleOut(nn.Module):
    """Returns (features, logits), and uses in-place operations of both kinds."""

    def __init__(self):
        super().__init__()
        self.conv, self.relu, self.head = nn.Conv2d(3, 6, 3), nn.ReLU(inplace=True), nn.Linear(6, 4)

    def forward(self, x):
        x = self.conv(x)
        x += 1
        x = self.relu(x)
        features = x.mean((2, 3))
        return features, self.head(features)


class DictOut(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 5, 3), nn.GroupNorm(1, 5), nn.LeakyReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(5, 4)

    def forward(self, x):
        features = self.body(x).flatten(1)
        return {"logits": self.head(features), "features": features}


class Shared(nn.Module):
    """One block, used three times, and a weight used by two layers."""

    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU())
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)
        self.two.weight = self.one.weight
        self.head = nn.Linear(3, 4)

    def forward(self, x):
        for _ in range(3):
            x = self.block(x) + x
        return self.head(self.two(self.one(x.mean((2, 3))).relu()))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 4, batch_first=True)

    def forward(self, x):
        return self.lstm(x.flatten(1, 2))[0][:, -1]


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(12, 2, 16, dropout=0.1, activation=nn.GELU(), batch_first=True)
        self.patches, self.encoder, self.head = (
            nn.Conv2d(3, 12, 4, 4),
            nn.TransformerEncoder(layer, 2),
            nn.Linear(12, 4),
        )

    def forward(self, x):
        return self.head(self.encoder(self.patches(x).flatten(2).transpose(1, 2)).mean(1))


class Buffered(nn.Module):
    """Keeps running numbers of its own, drops at random, and is partly frozen."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.act = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU()
        self.drop, self.head = nn.Dropout2d(0.5), nn.Linear(4, 4)
        self.register_buffer("count", torch.zeros(1))
        self.conv.requires_grad_(False)

    def forward(self, x):
        self.count += 1
        x = self.drop(self.act(self.norm(self.conv(x)))).mean((2, 3))
        return self.head(F.dropout(x, 0.0, self.training)) * self.count


class Raising(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        self.conv(x)
        raise KeyError("wheel")


def _plain():
    return nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 5, 3), nn.Tanh(), nn.Flatten(), nn.Linear(80, 4))


def _empty():
    return nn.Sequential(nn.Flatten(), nn.ReLU())


def _mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))


STRANGERS = {
    "tuple output, in place": (TupleOut, {}),
    "dict output, GroupNorm": (DictOut, {}),
    "shared layers": (Shared, {}),
    "no BatchNorm": (_plain, {}),
    "buffers, frozen": (Buffered, {}),
    "transformer": (Transformer, {}),
    "MLP": (_mlp, dict.fromkeys(["dextr", "meco"], "unsupported")),
    "LSTM": (Recurrent, {"naswot": "unsupported"}),
    "raising": (Raising, dict.fromkeys(sorted({*FIRST} - {"params", "random"}), "failed")),
    "no parameters": (_empty, dict.fromkeys(sorted({*FIRST} - {"params", "random", "macs", "naswot"}), "unsupported")),
}


@pytest.fixture
def images():
    source = torch.Generator().manual_seed(5)
    return torch.randn(4, 3, 8, 8, generator=source), torch.tensor([0, 3, 1, 2])


@pytest.fixture(params=list(STRANGERS))
def stranger(request):
    make, expected = STRANGERS[request.param]
    torch.manual_seed(11)
    return make(), expected


def test_strangers_get_a_value_or_a_reason(stranger, images):
    network, expected = stranger
    found = scores(network, images, FIRST)
    statuses = {name: s.status for name, s in found.items()}
    assert statuses == {**dict.fromkeys(FIRST, "ok"), **expected}, {n: s.reason for n, s in found.items()}
    for s in found.values():
        assert (s.value is not None and math.isfinite(s.value)) if s.ok else s.reason
        assert s.seconds > 0


def test_strangers_are_left_as_found(stranger, images):
    network, _ = stranger
    modules = list(network.modules())
    modules[-1].eval()
    state, modes = copy.deepcopy(network.state_dict()), [m.training for m in modules]
    needs = [p.requires_grad for p in network.parameters()]
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state()  # noqa: NPY002
    data = images[0].clone()
    scores(network, images, FIRST, repeats=2)
    assert torch.equal(images[0], data)
    assert [m.training for m in modules] == modes
    assert [p.requires_grad for p in network.parameters()] == needs
    assert all(p.grad is None for p in network.parameters())
    assert not any(m._forward_hooks or m._forward_pre_hooks or m._backward_hooks for m in modules)
    assert random.getstate() == states[0]
    assert np.random.get_state()[1].tolist() == states[1]  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), states[2])
    for name, value in network.state_dict().items():
        assert value.dtype == state[name].dtype
        assert torch.equal(value, state[name]), name


def test_the_same_seed_gives_the_same_values_alone_or_together(stranger, images):
    network, _ = stranger
    together = scores(network, images, FIRST, seed=3)
    torch.rand(5)
    for name in reversed(FIRST):
        alone = score(network, images, name, seed=3)
        assert alone.value == together[name].value, name


# -- labels -------------------------------------------------------------------------------------------------------------
class Untouchable(torch.Tensor):
    """Labels that may be counted, but not read."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.Tensor.__len__ or func.__name__ == "__get__":  # how many there are, and of which kind
            return super().__torch_function__(func, types, args, kwargs or {})
        raise AssertionError(f"the labels were touched by {func}")


@pytest.mark.parametrize("name", LABEL_FREE)
def test_label_free_proxies_never_touch_labels(images, name):
    inputs, labels = images
    network = _plain()
    assert not proxies[name].needs.labels
    found = score(network, Batch(inputs, labels.as_subclass(Untouchable)), name)
    assert found.ok, found.reason
    assert found.value == score(network, inputs, name).value


def test_the_untouchable_labels_do_notice(images):
    inputs, labels = images
    found = score(_plain(), Batch(inputs, labels.as_subclass(Untouchable)), "snip")
    assert "touched" in found.reason


def test_labels_out_of_range_are_the_callers_mistake(images):
    with pytest.raises(InputError, match="labels from 0 to 9"):
        score(_plain(), (images[0], torch.tensor([0, 9, 1, 2])), "snip")


# -- failures -----------------------------------------------------------------------------------------------------------
def test_what_the_network_raises_is_the_reason(images):
    found = score(Raising(), images, "naswot")
    assert (found.status, found.value) == ("failed", None)
    assert found.reason == "KeyError: 'wheel'"
    assert found.merit == -math.inf


def test_wrong_input_shapes_are_failures(images):
    found = score(nn.Linear(3, 2), images, "snip")
    assert found.status == "failed"
    assert "shapes" in found.reason


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), "out_of_memory"),
        (MemoryError(), "out_of_memory"),
        (ZeroDivisionError("by nothing"), "nan"),
        (RuntimeError(), "failed"),
    ],
)
def test_errors_become_statuses(images, error, status):
    class Failing(nn.Linear):
        def forward(self, x):
            raise error

    found = score(Failing(3, 2), images, "naswot")
    assert found.status == status
    assert found.reason or status == "nan"


def test_an_interrupt_passes(images):
    class Interrupted(nn.Linear):
        def forward(self, x):
            self.weight.data.zero_()
            raise KeyboardInterrupt

    network = Interrupted(3, 2)
    with pytest.raises(KeyboardInterrupt):
        score(network, images, "naswot")
    assert network.weight.abs().sum() > 0


def test_values_that_are_not_finite_are_a_status(images):
    network = _plain()
    nn.init.constant_(network[-1].weight, float("nan"))
    assert {s.status for n, s in scores(network, images, ["snip", "synflow", "dextr", "zico"]).items()} == {"nan"}


def test_unknown_names_list_the_nearest(images):
    with pytest.raises(UnknownNameError, match="dextr"):
        score(_plain(), images, "dexter")
    with pytest.raises(UnknownNameError, match="radius"):
        score(_plain(), images, "dextr", settings={"radios": 1})
    with pytest.raises(UnknownNameError, match="proxy in settings"):
        scores(_plain(), images, ["dextr"], settings={"meco": {}})
    with pytest.raises(InputError, match="repeats 0"):
        score(_plain(), images, repeats=0)


# -- many at once -------------------------------------------------------------------------------------------------------
#: those that need a run for each sample, or dozens of batches
EXPENSIVE = {"hnas", "knas", "m_grasp", "m_knas", "m_trace", "nasi_sum", "ntk_cond", "ntk_trace"}


def test_names_of():
    assert names_of("every") == names_of("*") == proxies.names()
    assert set(names_of("every")) - set(names_of("all")) == EXPENSIVE
    assert names_of(["ntk_trace", "all"])[:2] == ["ntk_trace", "az_complexity"]
    assert names_of(["grad-norm", "sni*", "snip", "mac?"]) == ["grad_norm", "snip", "macs"]
    assert names_of(["dextr:reference"]) == ["dextr:reference"]
    with pytest.raises(UnknownNameError):
        names_of(["xyz*"])


def test_gradient_proxies_share_one_forward_and_backward(images):
    runs = []

    class Counted(nn.Sequential):
        def forward(self, x):
            runs.append(len(x))
            return super().forward(x)

    scores(Counted(*_plain()), images, ["snip", "grad_norm", "naswot"])
    assert runs == [4]
    scores(Counted(*_plain()), images, ["meco", "dextr"])
    assert len(runs) == 3  # one for the features, one along the curve


def test_settings_and_variants_go_by_name(images):
    network = _plain()
    found = scores(network, images, ["dextr", "dextr:reference"], settings={"dextr": {"angle": 1.0}})
    assert found["dextr"].value == score(network, images, "dextr", settings={"angle": 1.0}).value
    assert found["dextr:reference"].value == score(network, images, "dextr:reference", settings={"angle": 1.0}).value
    assert found["dextr:reference"].proxy == "dextr:reference"


def test_repeats(images):
    network = _plain()
    one, several = score(network, images, "dextr"), score(network, images, "dextr", repeats=3)
    assert (one.spread, one.repeats, several.repeats) == (None, 1, 3)
    assert several.spread > 0
    fixed = score(network, images, "params", repeats=3)
    assert (fixed.spread, fixed.value) == (0.0, score(network, images, "params").value)


def test_functions_that_make_a_network(images):
    torch.manual_seed(0)
    first = score(_plain, images, "dextr", seed=1).value
    torch.manual_seed(1)
    state = torch.get_rng_state()
    assert score(_plain, images, "dextr", seed=1).value == first
    assert torch.equal(torch.get_rng_state(), state)
    assert score(lambda: 1 / 0, images, "params").status == "nan"
    assert score(lambda: [][1], images, "params").reason == "IndexError: list index out of range"
    with pytest.raises(InputError, match="returned int"):
        score(lambda: 3, images, "params")


def test_devices(images):
    network = _plain()
    assert score(network, images, "snip", device="cpu").value == score(network, images, "snip").value
    with pytest.raises(InputError, match="device 'gpu' cannot be used"):
        score(network, images, "snip", device="gpu")


def test_what_is_no_model(images):
    with pytest.raises(InputError, match="model of type int"):
        score(3, images, "snip")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_cuda(images):
    network = _plain()
    here = scores(network, images, FIRST)
    there = scores(network, images, FIRST, device="cuda")
    assert next(network.parameters()).device.type == "cpu"
    for name in FIRST:
        assert there[name].value == pytest.approx(here[name].value, rel=1e-2 if name == "zico" else 1e-4), name
    assert there["snip"].peak_bytes > 0


def test_a_new_proxy_is_one_function(images):
    @proxy(
        "test_loss", direction="lower", needs=Needs(labels=True, looks=("batch.loss",)), paper="none", cost="1 forward"
    )
    def test_loss(probe):
        """The loss."""
        probe.note(loss=probe.batch.loss)
        return probe.batch.loss

    try:
        found = score(_plain(), images, "test_loss")
        assert found.ok
        assert found.merit == -found.value
        assert found.parts == {"loss": pytest.approx(found.value)}
    finally:
        del proxies._things["test_loss"]


# -- ranking ------------------------------------------------------------------------------------------------------------
def test_rank_orders_by_mean_rank_with_failures_last(images):
    models = {
        "raising": Raising(),
        "small": nn.Sequential(nn.Flatten(), nn.Linear(192, 4)),
        "big": _plain,
        "mlp": _mlp(),
    }
    found = rank(models, images, ["params", "macs", "snip"])
    assert found.order[-1] == "raising"
    assert found.best == found.order[0]
    assert found.ranks["raising"]["snip"] == 4
    assert [found.ranks[name]["params"] for name in models] == [4, 2, 3, 1]
    for name in models:
        assert found.mean_ranks[name] == found.ranks[name]["snip"]  # params and macs are baselines and have no vote
    good = found.order[:-1]
    assert sorted(good, key=found.mean_ranks.__getitem__) == list(good)
    text = str(found)
    assert text.splitlines()[0].split() == ["network", "snip", "params", "(baseline)", "macs", "(baseline)"]
    assert "failed" in text.splitlines()[4]
    assert (
        text.splitlines()[5]
        == "ordered by snip; params and macs are baselines and have no vote; what failed comes last"
    )


def test_ranks_of_ties_and_lower_is_better(images):
    equal = nn.Linear(3, 2)
    found = rank([equal, equal, nn.Linear(3, 5)], torch.zeros(1, 3), "params")
    assert [found.ranks[name]["params"] for name in found.scores] == [2.5, 2.5, 1]
    assert list(found.scores) == ["0 Linear", "1 Linear", "2 Linear"]


def test_rank_needs_networks():
    with pytest.raises(InputError, match="no networks"):
        rank([], torch.zeros(1, 3))


def test_nothing_is_kept_between_calls(images):
    import gc

    def tensors():
        gc.collect()
        return sum(1 for thing in gc.get_objects() if type(thing) in (torch.Tensor, nn.Parameter))

    make = lambda: scores(_plain(), images, FIRST)  # noqa: E731
    make()
    before = tensors()
    for _ in range(3):
        make()
    assert tensors() <= before


class Scaled(nn.Module):
    """Takes its inputs by name only."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 5))

    def forward(self, *, image: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        return self.layers(image * scale)


def test_named_inputs_are_scored_as_positional_ones(batch):
    inputs, labels = batch(6, dtype=torch.float32)
    scale, network = torch.full((6, 1, 1, 1), 2.0), Scaled()
    names = ["grad_norm", "snip", "naswot", "foresee", "ntk_cond", "synflow", "macs", "params", "meco"]
    by_name = scores(network, Batch({"image": inputs, "scale": scale}, labels), names)
    by_place = scores(network.layers, (inputs * 2.0, labels), [name for name in names if name != "synflow"])
    assert all(one.ok for one in by_name.values()), [str(one) for one in by_name.values()]
    for name, one in by_place.items():
        assert by_name[name].value == pytest.approx(one.value, rel=1e-5), name


class OnlyFloat32(nn.Module):
    """Code that makes float32 on its way, as many people's does."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 4, 3), nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.first(x).mean((2, 3)).float())


def test_a_float64_part_that_fell_back_is_said_beside_the_value():
    names = ["params", "dextr", "curvature", "inverse_conditions", "meco", "naswot", "synflow"]
    x = torch.randn(2, 3, 8, 8)
    found = scores(OnlyFloat32(), x, names)
    told = {name for name, one in found.items() if one.ok and one.reason}
    assert told == {"dextr", "curvature", "inverse_conditions", "meco"}  # those that found it in memory too
    assert re.match(r"in float32: the network does not run in float64 \(RuntimeError: .+\)$", found["dextr"].reason)
    assert str(found["meco"]).endswith(f" ({found['meco'].reason})")
    assert found["synflow"].status == "failed"  # float64 is part of its definition
    alone = {name: score(OnlyFloat32(), x, name) for name in names}
    assert {name for name, one in alone.items() if one.ok and one.reason} == told
    drawn = scores(OnlyFloat32(), x, ["params", "meco"], initialise="he", repeats=2)
    assert (drawn["params"].reason, drawn["meco"].reason) == ("", found["meco"].reason)
    wide = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    assert {one.reason for one in scores(wide, x, ["dextr", "meco"]).values()} == {""}


def test_what_was_looked_at_is_let_go_with_the_scores(monkeypatch):
    made = []

    class Watched(Probe):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(weakref.ref(self))

    monkeypatch.setattr("foresee.scoring.one.Probe", Watched)
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    collecting = gc.isenabled()
    gc.disable()  # without waiting to be collected
    try:
        found = scores(net, (torch.randn(4, 3, 8, 8), torch.arange(4) % 3), ["meco", "grad_norm", "foresee", "naswot"])
        assert all(one.ok for one in found.values())
        assert made
        assert not any(one() is not None for one in made)
    finally:
        if collecting:
            gc.enable()
