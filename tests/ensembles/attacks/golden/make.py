"""Makes `values.npz`: adversarial images of a tiny network by adversarial-robustness-toolbox, foolbox and torchattacks.

    pip install --target oracles adversarial-robustness-toolbox==1.20.1 foolbox==3.3.4 torchattacks==3.5.1
    PYTHONPATH=oracles:. python tests/ensembles/attacks/golden/make.py

ART has no Carlini-Wagner with Adam (it has a line search), no targeted ratio and no FAB: foolbox and torchattacks have them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from tests.ensembles.attacks.golden.network import CLASSES, CW, EPS, HERE, PGD, ROUNDS, SAMPLES, network
from torch import nn

Arrays = dict[str, np.ndarray]


def train() -> tuple[nn.Module, torch.Tensor, torch.Tensor]:
    """Some hundred steps on digits 0 to 4; the images that are attacked are not among those."""
    found = load_digits(n_class=CLASSES)
    images = torch.tensor(found.images / 16, dtype=torch.float32)[:, None]
    labels = torch.tensor(found.target)
    torch.manual_seed(1)
    made = network()
    adam = torch.optim.Adam(made.parameters(), lr=0.01)
    for _ in range(150):
        adam.zero_grad()
        nn.functional.cross_entropy(made(images[SAMPLES:]), labels[SAMPLES:]).backward()
        adam.step()
    return made.eval(), images[:SAMPLES], labels[:SAMPLES]


def by_art(made: nn.Module, images: np.ndarray, labels: np.ndarray) -> Arrays:
    from art.attacks import evasion
    from art.estimators.classification import PyTorchClassifier

    victim = PyTorchClassifier(
        made, nn.CrossEntropyLoss(), (1, 8, 8), CLASSES, clip_values=(0.0, 1.0), device_type="cpu"
    )
    quiet: dict[str, Any] = {"batch_size": SAMPLES, "verbose": False}
    pgd = {"eps": PGD["eps"], "eps_step": PGD["step"], "max_iter": PGD["steps"]}
    thesis = {"eps": 0.01, "eps_step": 0.008, "max_iter": 40}
    auto = {"eps": EPS, "eps_step": 2 * EPS, "max_iter": 100, "nb_random_init": 1}
    ce, dlr = {"loss_type": "cross_entropy"}, {"loss_type": "difference_logits_ratio"}
    cw = {"learning_rate": CW["rate"], "binary_search_steps": 3, "max_iter": CW["steps"], "initial_const": 5.0}

    def run(attack: Any, rounds: int = 1) -> np.ndarray:
        np.random.seed(0)  # noqa: NPY002 (what ART draws from)
        return np.stack([attack.generate(images.copy(), labels) for _ in range(rounds)])

    return {
        "art_fgsm": run(evasion.FastGradientMethod(victim, eps=EPS, batch_size=SAMPLES))[0],
        "art_pgd": run(evasion.ProjectedGradientDescentPyTorch(victim, **pgd, **quiet))[0],
        "art_pgd_thesis": run(evasion.ProjectedGradientDescentPyTorch(victim, **thesis, **quiet))[0],
        "art_cw": run(evasion.CarliniL2Method(victim, **cw, **quiet))[0],
        "art_apgd_ce": run(evasion.AutoProjectedGradientDescent(victim, **auto, **ce, **quiet), ROUNDS),
        "art_apgd_dlr": run(evasion.AutoProjectedGradientDescent(victim, **auto, **dlr, **quiet), ROUNDS),
        "art_square": run(evasion.SquareAttack(victim, eps=EPS, max_iter=500, **quiet), ROUNDS),
        "art_autoattack": run(
            evasion.AutoAttack(
                victim,
                eps=EPS,
                eps_step=2 * EPS,
                batch_size=SAMPLES,
                attacks=[
                    evasion.AutoProjectedGradientDescent(victim, **auto, **ce, **quiet),
                    evasion.AutoProjectedGradientDescent(victim, **auto, **dlr, **quiet),
                    evasion.DeepFool(victim, max_iter=100, epsilon=1e-3, nb_grads=CLASSES, batch_size=SAMPLES),
                    evasion.SquareAttack(victim, eps=EPS, max_iter=500, **quiet),
                ],
            )
        )[0],
    }


def by_foolbox(made: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> Arrays:
    import foolbox

    attack = foolbox.attacks.L2CarliniWagnerAttack(
        binary_search_steps=3, steps=CW["steps"], stepsize=CW["rate"], initial_const=1.0, abort_early=False
    )
    return {"foolbox_cw": attack.run(foolbox.PyTorchModel(made, bounds=(0, 1), device="cpu"), images, labels).numpy()}


def by_torchattacks(made: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> Arrays:
    import torchattacks

    known: dict[str, Any] = {"n_classes": CLASSES}
    found = {}
    for norm in ("Linf", "L2"):  # one target, the likeliest; however far away, it counts
        attack = torchattacks.FAB(made, norm=norm, eps=1e3, steps=100, multi_targeted=True, n_classes=2)
        found[f"torchattacks_fab_{norm.lower()}"] = attack(images, labels).detach().numpy()
    makers = {
        "apgd_ce": lambda seed: torchattacks.APGD(made, eps=EPS, steps=100, loss="ce", seed=seed),
        "apgd_t": lambda seed: torchattacks.APGDT(made, eps=EPS, steps=100, seed=seed, **known),
        "square": lambda seed: torchattacks.Square(made, eps=EPS, n_queries=500, loss="margin", seed=seed),
    }
    for name, maker in makers.items():
        runs = [maker(seed)(images, labels).detach().numpy() for seed in range(ROUNDS)]
        found[f"torchattacks_{name}"] = np.stack(runs)
    return found


def main() -> None:
    made, images, labels = train()
    kept = {"weights": nn.utils.parameters_to_vector(made.parameters()).detach().numpy()}
    kept |= {"images": images.numpy(), "labels": labels.numpy()}
    kept |= by_art(made, images.numpy(), labels.numpy())
    kept |= by_foolbox(made, images, labels)
    kept |= by_torchattacks(made, images, labels)
    for name, array in kept.items():
        if array.ndim == 5:  # of random attacks only whether they succeeded
            kept[name] = wrong = np.stack([turned(made, images, labels, one) for one in array])
            print(name, "robust accuracies", 1 - wrong.mean(1))
        elif array.ndim == 4 and name != "images":
            print(name, "robust accuracy", 1 - turned(made, images, labels, array, eps=1.0).mean())
        kept[name] = kept[name].astype(np.float32) if array.dtype.kind == "f" and array.ndim < 5 else kept[name]
    print("clean accuracy", float((made(images).argmax(1) == labels).float().mean()))
    np.savez_compressed(HERE / "values.npz", **kept)


def turned(
    made: nn.Module, images: torch.Tensor, labels: torch.Tensor, array: np.ndarray, eps: float = EPS
) -> np.ndarray:
    """Which of these images are taken for something else, and lie within the ball."""
    changed = torch.from_numpy(array).float()
    wrong, away = made(changed).argmax(1) != labels, (changed - images).abs().flatten(1).amax(1)
    return (wrong & (away <= eps + 1e-5)).numpy()


if __name__ == "__main__":
    main()
