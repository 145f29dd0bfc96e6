"""One network: score it, by one proxy or by several that share what they have in common."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from foresee.devices import usable
from foresee.errors import InputError, UnknownNameError
from foresee.handed import read
from foresee.probes.belongings import tensors_of
from foresee.probes.losses import Loss
from foresee.probes.ours import Ours, plain
from foresee.probes.outputs import Outputs
from foresee.probes.probe import Probe
from foresee.proxies.base import Proxy, Score, get, names_of
from foresee.quantities import parse_bytes
from foresee.registry import tidy
from foresee.scoring.several import Scores
from foresee.scoring.tally import Tally, attempt
from foresee.seeds import derive, random_states_kept

#: a network, or a function without arguments that makes one
Model = nn.Module | Callable[[], nn.Module]


def score(
    model: Model,
    batch: Any,
    proxy: str | Proxy = "foresee",
    *,
    seed: int = 0,
    repeats: int = 1,
    settings: Mapping[str, Any] | None = None,
    loss: Loss | str | None = None,
    device: torch.device | str | None = None,
    initialise: str | None = None,
    outputs: Outputs | None = None,
    memory: str | float | None = None,
) -> Score:
    """One number for one network, without training it.

    Args:
        model: any module (left exactly as found), or a function that makes one (its weights come from the seed then).
        batch: a tensor or array, `(inputs, labels)`, a mapping of named inputs (an entry `labels` is the labels), a
            `DataLoader` (its first batches, as many as the proxy asks for), a `Dataset` (samples drawn by the seed, as many
            as the proxy asks for), a `Batch`, or a list of these for proxies that want several; see
            `foresee.handed.as_batches`.
        proxy: a name, `name:variant`, or a `Proxy`.
        seed: decides every draw; the same for all networks that are to be compared.
        repeats: draws to average over; the score's `spread` is their standard deviation.
        settings: settings of the proxy.
        loss: None (chosen from labels and outputs), "cross_entropy", "bce", "mse", or a function of (outputs, labels).
        device: where to run; a network that is elsewhere is copied. None: where the network is.
        initialise: the weights to look at: "default" (the network's own), "lecun", "xavier", "he" or "normal", drawn from the
            seed. None: what the proxy wants, mostly the network's own.
        outputs: which output of the network counts, where it returns several: a function (`lambda out: out.logits`), a key or
            attribute, or a place in a tuple. None: the logits, found as in `foresee.probes.outputs`.
        memory: what the proxy may take beside the network and the batch, "8GiB" or a number of bytes; one that would take
            more is not begun, and its status is `out_of_memory`. None: half of what is free on the device.

    Returns:
        A `Score`. What goes wrong in the network is its status with the reason, never an exception: `unsupported` (the
        proxy does not apply), `partial` (it saw less than half of the weights), `nan`, `rank_deficient`, `out_of_memory`,
        `failed` (the network raised). A mistake in what was handed in (an unknown name, labels out of range) is an exception.

    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10))
    >>> score(net, torch.randn(1, 3, 8, 8)).status, score(net, torch.randn(1, 3, 8, 8), "snip").status
    ('ok', 'unsupported')
    """
    chosen = get(proxy, {**_weights(initialise), **(settings or {})})
    how: dict[str, Any] = {"loss": loss, "device": device, "outputs": outputs, "memory": memory}
    return scores(model, batch, [chosen], seed=seed, repeats=repeats, **how)[chosen.full_name]


def scores(
    model: Model,
    batch: Any,
    proxies: str | Proxy | Iterable[str | Proxy] = "all",
    *,
    seed: int = 0,
    repeats: int = 1,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    loss: Loss | str | None = None,
    device: torch.device | str | None = None,
    initialise: str | None = None,
    outputs: Outputs | None = None,
    memory: str | float | None = None,
) -> Scores:
    """Several proxies of one network; what they have in common is computed once.

    `proxies` are names, wildcards (`grad*`), "all" (those that take a few runs), "every" (the expensive ones too: `foresee
    proxies` says which), or `Proxy` objects; `settings` go by proxy name. The time of a look that
    several proxies share is in the `seconds` of the first that asks for it. `peak_bytes` is measured on CUDA devices, and 0
    on others. The other arguments are those of `score`; a proxy's own setting `initialise` comes before the argument.

    >>> found = scores(nn.Linear(4, 3), (torch.randn(6, 4), torch.arange(6) % 3), ["snip", "grad_*", "params"])
    >>> list(found), found["params"].value
    (['snip', 'grad_norm', 'params'], 15.0)
    """
    chosen = chosen_proxies(proxies, settings or {}, initialise)
    how: dict[str, Any] = {"loss": loss, "device": device, "outputs": outputs, "memory": memory}
    return looked_at(model, batch, chosen, seed=seed, repeats=repeats, **how)


def looked_at(
    model: Model,
    batch: Any,
    chosen: Sequence[Proxy],
    *,
    seed: int,
    repeats: int,
    loss: Loss | str | None = None,
    device: torch.device | str | None = None,
    outputs: Outputs | None = None,
    memory: str | float | None = None,
    ours: bool = False,
) -> Scores:
    """As `scores`, with proxies that are at hand; `ours` says that nobody else looks at the network afterwards.

    One of ours is neither copied nor kept as found, where its layers are known (`foresee.probes.ours`); its scores are the
    same.
    """
    if repeats < 1:
        raise InputError(f"repeats {repeats}: at least 1 is needed")
    if memory is not None:
        memory = parse_bytes(memory)
    handed = read(batch, map(wants, chosen), seed)
    groups: dict[int, list[Proxy]] = {}  # proxies that look at the same batches share their looks
    for one in chosen:
        groups.setdefault(id(handed.wanted(*wants(one))), []).append(one)
    network = attempt(lambda: _network(model, seed, device, ours))
    known = Ours.of(network.value) if ours and network.status == "ok" else None
    tallies: list[tuple[Tally, Any]] = []
    for group in groups.values():
        batches, looks = handed.wanted(*wants(group[0])), [look for one in group for look in one.looks]
        make = partial(Probe, network.value, batches, loss=loss, seed=seed, looks=looks, outputs=outputs, ours=known)
        made = attempt(make) if network.status == "ok" else network
        for one in group:
            blank = Score(one.full_name, None, made.status, made.reason, one.direction, seed=seed, repeats=repeats)
            tallies.append((Tally(one, blank), made.value))
    for repeat in range(repeats):  # repeats outside: proxies share what one draw costs
        for tally, probe in tallies:
            tally.add(probe, repeat, memory)
    for _, probe in tallies:
        if probe is not None:
            probe.forget()
    found = {tally.proxy.full_name: tally.score() for tally, _ in tallies}
    return Scores({one.full_name: found[one.full_name] for one in chosen})


def wants(proxy: Proxy) -> tuple[int, int]:
    """How many batches of how many samples a proxy looks at, where there are as many as one likes."""
    return proxy.needs.batches, proxy.needs.batch


# -- what was handed in -------------------------------------------------------------------------------------------------
def _weights(initialise: str | None) -> dict[str, str]:
    return {} if initialise is None else {"initialise": initialise}


def chosen_proxies(
    wanted: str | Proxy | Iterable[str | Proxy],
    settings: Mapping[str, Mapping[str, Any]],
    initialise: str | None = None,
) -> list[Proxy]:
    """The proxies, each once, with their settings."""
    found: dict[str, Proxy] = {}
    for one in [wanted] if isinstance(wanted, str | Proxy) else wanted:
        if isinstance(one, Proxy):
            found[one.full_name] = one
        else:
            found.update({name: get(name) for name in names_of(one)})
    if not found:
        raise InputError("no proxy was asked for")
    by_name = {tidy(name): own for name, own in settings.items()}
    for name in by_name:
        if name not in found and name not in {one.name for one in found.values()}:
            raise UnknownNameError("proxy in settings", name, found)
    every = _weights(initialise)
    return [get(one, {**every, **by_name.get(one.name, {}), **by_name.get(name, {})}) for name, one in found.items()]


def _network(model: Model, seed: int, device: torch.device | str | None, ours: bool) -> nn.Module:
    """The module, or the one a function makes; a copy where it has to move, unless it is ours."""
    if not callable(model):
        raise InputError(
            f"model of type {type(model).__name__}: expected a torch.nn.Module, or a function that makes one"
        )
    if not isinstance(model, nn.Module):
        with random_states_kept(derive(seed, "weights")):
            model = model()
        if not isinstance(model, nn.Module):
            raise InputError(f"the model function returned {type(model).__name__}: expected a torch.nn.Module")
    if device is None:
        return model
    there = usable(device)
    places = {tensor.device for tensor in tensors_of(model)}
    if places <= {there}:
        return model
    return (model if ours and plain(model) else copy.deepcopy(model)).to(there)
