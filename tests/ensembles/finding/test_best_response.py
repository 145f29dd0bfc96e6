"""The posterior that is updated while the supernet is trained."""

from __future__ import annotations

import pytest
import torch
from tests.ensembles.finding.tiny import DARTS, NB201, TINY, images

from foresee.ensembles.finding import best_response as room
from foresee.ensembles.finding import ensemble
from foresee.ensembles.finding.best_response import NAME, BestResponse
from foresee.ensembles.finding.parts import parts_of
from foresee.ensembles.finding.settings import EnsembleSettings
from foresee.ensembles.finding.workshop import Common


@pytest.fixture(scope="module")
def parts():
    return parts_of(images())


@pytest.mark.parametrize("space", [NB201, DARTS], ids=["nasbench201", "darts"])
def test_an_ensemble_comes_of_it(space, parts):
    settings = EnsembleSettings(**{**TINY, **space, "posterior": "best-response"})
    common = Common(settings, parts)
    posterior = common.posterior
    assert posterior.divergence > 0
    assert max(float(one.abs().max()) for one in posterior.logits.values()) < 0.1  # few steps of 0.01
    if common.without:
        assert all(float(one[0]) == 0 for name, one in posterior.probabilities().items() if "inputs" not in name)


def test_its_steps_are_those_of_adam(parts, monkeypatch):
    settings = EnsembleSettings(**{**TINY, **NB201})
    common = Common(settings, parts)
    made = BestResponse(common.fresh, parts.val, settings)
    network = common.one_shot
    count = network.get_buffer(NAME).shape[1]
    slopes = torch.randn(4, count, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wanted = torch.zeros(count, dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([wanted], 0.01, betas=room.BETAS, weight_decay=room.DECAY)
    state = torch.zeros(3, count, dtype=torch.float64)
    for step, slope in enumerate(slopes):
        sizes = [len(choice.options) for choice in network.choices]
        monkeypatch.setattr(
            torch.autograd, "grad", lambda *_, slope=slope, sizes=sizes, **__: torch.split(slope, sizes)
        )
        state = made._updated(network, state, step)
        wanted.grad = slope.clone()
        adam.step()
    assert torch.allclose(state[0], wanted.detach(), atol=1e-12)


def test_killed_in_the_middle_it_goes_on_exactly(parts, tmp_path):
    settings = EnsembleSettings(**{**TINY, **NB201, "supernet_epochs": 4})

    def made():
        common = Common(settings, parts)
        return common.fresh, BestResponse(common.fresh, parts.val, settings)

    whole, sampler = made()
    whole.train(parts.train, None, None, settings.shared_recipe, sampler=sampler)

    class StoppedError(Exception):
        pass

    stopped, sampler = made()

    def stop(one_shot, step):
        if step == 5:
            raise StoppedError
        sampler(one_shot, step)

    stop.facts = sampler.facts
    kept = {"out": tmp_path, "resume": True, "between": 0.0}
    with pytest.raises(StoppedError):
        stopped.train(parts.train, None, None, settings.shared_recipe, sampler=stop, **kept)
    again, sampler = made()
    again.train(parts.train, None, None, settings.shared_recipe, sampler=sampler, **kept)
    for name, one in whole.one_shot.state_dict().items():
        assert torch.equal(one, again.one_shot.state_dict()[name]), name
    assert again.one_shot.get_buffer(NAME).abs().sum() > 0


def test_a_finished_run_is_read_again(tmp_path):
    how = {**TINY, **NB201, "posterior": "best_response", "sampler": "mc", "out": tmp_path}
    first = ensemble(data=images(), **how)
    (tmp_path / "measures.json").unlink()
    (tmp_path / "selected.json").unlink()
    (tmp_path / "posterior.json").unlink()
    again = ensemble(data=images(), **how)
    assert first.selected == again.selected
    assert first.measures == again.measures
    assert first.budget["posterior_epochs"] == 0
