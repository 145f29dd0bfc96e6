"""What the page of a run says of its foremost after training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from foresee.searchers.foremost import summary


def trained_rows(folder: str | Path | None) -> dict[str, Any]:
    """What a run's page says of its foremost after training; empty where nothing was trained."""
    plain = summary(folder)
    if plain is None:
        return {}
    rows = [
        {
            **{key: one.get(key) for key in ("place", "id", "architecture", "reason", "best_epoch", "seconds")},
            **{name: _judged(one.get(name)) for name in ("validation", "test", "compared")},
            "best": one.get("id") == plain.get("best"),
        }
        for one in plain["foremost"]
        if isinstance(one, dict)
    ]
    recipe = plain.get("recipe")
    return {
        "rows": rows,
        "best": plain.get("best"),
        "chosen": plain.get("chosen"),
        "recipe": recipe if isinstance(recipe, dict) else {},
    }


def _judged(plain: Any) -> str:
    """An AUC with its log loss, an accuracy, or where there is none a loss; "" where it was not judged."""
    if not isinstance(plain, dict):
        return ""
    area, accuracy, loss = plain.get("auc"), plain.get("accuracy"), plain.get("loss")
    if isinstance(area, float) and isinstance(loss, float):
        return f"AUC {area:.4f}, loss {loss:.4f}"
    if isinstance(accuracy, float):
        return f"{100 * accuracy:.2f} %"
    return f"loss {loss:.4g}" if isinstance(loss, float) else ""
