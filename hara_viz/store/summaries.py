"""What lists and charts show of groups and runs, from `groups.parquet` alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hara_viz.store.annotations import Annotations
from hara_viz.store.schema import key_of
from hara_viz.types import is_success

if TYPE_CHECKING:
    import pandas as pd


def override_rewards(rows: list[dict[str, Any]], annotations: Annotations) -> list[dict[str, Any]]:
    """Rows of the index with the rewards that people overrode."""
    verdicts = annotations.verdicts()
    annotated = {key for key, _ in verdicts}
    for row in rows:
        key = key_of(row)
        if key in annotated:
            row["rewards"] = [
                verdicts[key, sample].reward if (key, sample) in verdicts else reward
                for sample, reward in zip(row["samples"], row["rewards"], strict=True)
            ]
    return rows


def scored(rewards: Iterable[float | None]) -> list[float]:
    """The rewards that are known."""
    return [reward for reward in rewards if reward is not None and not math.isnan(reward)]


def count_successes(rewards: Iterable[float | None], threshold: float) -> int:
    """How many rollouts succeeded."""
    return sum(is_success(reward, threshold) is True for reward in rewards)


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return sum(values) / len(values) if values else None


def to_frame(rows: Sequence[dict[str, Any]], threshold: float) -> pd.DataFrame:
    """The groups as a table: the index's columns and what follows from them."""
    import pandas as pd

    from hara_viz.store.index import SCHEMA

    frame = pd.DataFrame(list(rows), columns=SCHEMA.names)
    known = [scored(rewards) for rewards in frame["rewards"]]
    frame["global_step"] = frame["global_step"].astype("Int64")  # null: unknown step
    frame["n_rollouts"] = [len(rewards) for rewards in frame["rewards"]]
    frame["n_scored"] = [len(rewards) for rewards in known]
    frame["n_success"] = [count_successes(rewards, threshold) for rewards in known]
    frame["pass_rate"] = (frame["n_success"] / frame["n_scored"]).astype(float)  # NaN: unscored
    frame["mixed"] = (frame["n_success"] > 0) & (frame["n_success"] < frame["n_scored"])
    frame["reward_mean"] = pd.Series([mean(rewards) for rewards in known], dtype=float)
    frame["length_mean"] = pd.Series([mean(lengths) for lengths in frame["lengths"]], dtype=float)
    frame["n_tokens"] = [sum(lengths) for lengths in frame["lengths"]]
    return frame
