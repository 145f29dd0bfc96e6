"""A proxy of your own: one decorated function, and everything else works with it."""

import torch

import foresee as fs
from foresee.proxies import Needs, Probe


@fs.proxy("logit_spread", needs=Needs(batch=16, looks=("batch.outputs",)), paper="this example", cost="1 forward")
def logit_spread(probe: Probe) -> torch.Tensor:
    """Standard deviation of the logits over samples: a network that says the same of everything foresees nothing."""
    return probe.batch.outputs.std(0).mean()


def main() -> None:
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10))
    print(fs.score(network, torch.randn(16, 3, 32, 32), proxy="logit_spread"))


if __name__ == "__main__":
    main()
