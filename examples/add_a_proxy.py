"""A proxy of your own: one decorated function, and everything else works with it: scoring, ranking, searching."""

import torch
from torch import nn

import foresee as fs
from foresee.proxies import Needs, Probe


@fs.proxy("logit_spread", needs=Needs(batch=16, looks=("batch.outputs",)), paper="this example", cost="1 forward run")
def logit_spread(probe: Probe) -> torch.Tensor:
    """Standard deviation of the logits over samples: a network that says the same of everything foresees nothing."""
    return probe.batch.outputs.std(0).mean()


def make_net(pick) -> nn.Module:
    width = pick("width", [4, 16, 64])
    return nn.Sequential(nn.Flatten(), nn.Linear(3072, width), nn.ReLU(), nn.Linear(width, 10))


def main() -> None:
    torch.manual_seed(0)
    batch = fs.data.load("digits").batch(16, seed=0)
    networks = {f"width {width}": make_net(lambda name, options, width=width: width) for width in (4, 64)}
    print(fs.score(networks["width 64"], batch, proxy="logit_spread"))
    print(fs.rank(networks, batch, proxies="logit_spread"))
    run = fs.search(fs.spaces.own(make_net), "logit_spread", "random", evaluations=3)
    print("best", run.best.architecture)


if __name__ == "__main__":
    main()
