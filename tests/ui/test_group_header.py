"""The table of rollouts: means over what the policy wrote, and no number where none is known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from hara_viz.backend.credit import credit_group
from hara_viz.store import RunWriter, open_run
from hara_viz.types import RolloutGroup
from hara_viz.ui.group_header import rollout_frame
from hara_viz.ui.group_view import GroupColumns, GroupView
from tests.store.builders import make_info, make_rollout, make_states

MASK = (True, True, False, False, False, True)


def view_of(folder: Path, group: RolloutGroup) -> GroupView:
    with RunWriter(folder, make_info()) as writer:
        writer.write_part([group], [make_states([group])])
        writer.finish()
    run = open_run(folder)
    found = credit_group(run, run.keys()[0])
    return GroupView(
        run=run,
        run_name=run.name,
        stamp=0,
        key=found.group.key,
        group=found.group,
        credit=found,
        config=found.config,
        layer=found.layer,
        columns=GroupColumns(found),
        refused=None,
    )


def test_means_are_over_the_policys_own_tokens(tmp_path: Path) -> None:
    rollouts = (
        make_rollout(0, s, n_tokens=6, reward=float(s > 1), sampled_mask=MASK if s == 1 else None)
        for s in range(4)
    )
    view = view_of(tmp_path / "run", RolloutGroup(tuple(rollouts)))
    own, found = torch.tensor(MASK), view.credit
    row = rollout_frame(view).iloc[1]
    for column, values in (
        ("mean novelty", found.credit.novelty),
        ("mean weight", found.credit.weights),
    ):
        assert row[column] == pytest.approx(float(found.of_row(values, 1)[own].mean()))


def test_who_has_nothing_to_compare_with_has_no_novelty(tmp_path: Path) -> None:
    rewards = (1.0, 0.0, 0.0, None)
    rollouts = (make_rollout(0, s, n_tokens=5, reward=reward) for s, reward in enumerate(rewards))
    frame = rollout_frame(view_of(tmp_path / "run", RolloutGroup(tuple(rollouts))))
    assert [not pd.isna(value) for value in frame["mean novelty"]] == [False, True, True, False]
