from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hara_viz.errors import InvalidInputError, MissingInputError, ShapeError
from hara_viz.store import RunWriter, open_run
from hara_viz.store.schema import (
    ROLLOUTS,
    group_to_table,
    rollout_to_row,
    row_to_rollout,
    table_to_rollouts,
)
from hara_viz.types import (
    Finish,
    GroupKey,
    HiddenStates,
    Message,
    Projection,
    Rollout,
    RolloutGroup,
    TokensSource,
    TrainingInfo,
)
from tests.store.builders import make_group, make_info, make_rollout, make_states

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
maybe_text = st.none() | text
int32s = st.integers(0, 2**31 - 1)
float32s = st.floats(width=32)  # NaN and infinities among them


@st.composite
def rollouts(draw: st.DrawFn) -> Rollout:
    n = draw(st.integers(0, 5))

    def per_token(values: st.SearchStrategy) -> st.SearchStrategy:
        return st.none() | st.lists(values, min_size=n, max_size=n).map(tuple)

    part = st.none() | st.floats(allow_nan=False, allow_infinity=False)
    return Rollout(
        problem_id=draw(text),
        source_id=draw(maybe_text),
        global_step=draw(st.none() | st.integers(0, 2**40)),
        split=draw(maybe_text),
        group=draw(st.integers(0, 9)),
        prompt_messages=draw(
            st.none() | st.lists(st.builds(Message, text, text), max_size=3).map(tuple)
        ),
        prompt_text=draw(text),
        prompt_ids=draw(st.none() | st.lists(int32s, max_size=4).map(tuple)),
        gold=draw(maybe_text),
        completion_text=draw(text),
        completion_ids=tuple(draw(st.lists(int32s, min_size=n, max_size=n))),
        sampled_mask=draw(per_token(st.booleans())),
        cell_start=draw(per_token(int32s)),
        reasoning_step=draw(per_token(int32s)),
        logprobs=draw(per_token(float32s)),
        logprobs_kind=draw(st.none() | st.just("raw")),
        entropy=draw(per_token(float32s)),
        reward=draw(st.none() | st.floats()),
        reward_parts=draw(st.none() | st.dictionaries(text, part, max_size=2)),
        extracted_answer=draw(maybe_text),
        answer_start=draw(st.none() | int32s),
        answer_end=draw(st.none() | int32s),
        reward_reason=draw(maybe_text),
        recorded_advantage=draw(st.none() | st.floats()),
        recorded_advantages=draw(per_token(float32s)),
        recorded_weights=draw(per_token(float32s)),
        recorded_coefficients=draw(per_token(float32s)),
        advantage_rule=draw(maybe_text),
        finish=draw(st.sampled_from(Finish)),
        tokens_source=draw(st.sampled_from(TokensSource)),
        error=draw(maybe_text),
    )


def shown(rollout: Rollout) -> str:
    """A form in which NaN equals NaN, and None, 0 and () differ."""
    return repr({name: getattr(rollout, name) for name in ROLLOUTS.names})


@settings(max_examples=60, deadline=None)
@given(rollouts())
def test_a_rollout_comes_back_as_it_was(rollout: Rollout) -> None:
    assert shown(row_to_rollout(rollout_to_row(rollout))) == shown(rollout)
    table = group_to_table(RolloutGroup((rollout,)))
    assert shown(table_to_rollouts(table, "here")[0]) == shown(rollout)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(rollouts(), min_size=1, max_size=4, unique_by=lambda r: r.key))
def test_rollouts_come_back_from_the_disk(
    tmp_path_factory: pytest.TempPathFactory, some: list[Rollout]
) -> None:
    path = tmp_path_factory.mktemp("runs") / "r"
    with RunWriter(path, make_info()) as writer:
        writer.write_part([RolloutGroup((r,)) for r in some])
    run = open_run(path)
    for rollout in some:
        assert shown(run.load_group(rollout.key).rollouts[0]) == shown(rollout)


def test_lone_surrogates_keep_lengths_in_text_and_survive_in_json(tmp_path: Path) -> None:
    half = "a\ud83db"
    rollout = make_rollout(
        completion_text=half,
        prompt_text=half,
        prompt_messages=(Message("user", half),),
        reward_parts={half: 1.0},
    )
    with RunWriter(tmp_path / "r", make_info(problem_set=half)) as writer:
        writer.write_part([RolloutGroup((rollout,))])
    run = open_run(tmp_path / "r")
    back = run.load_group(rollout.key).rollouts[0]
    assert back.completion_text == back.prompt_text == "a\ufffdb"
    assert back.prompt_messages == (Message("user", half),)
    assert back.reward_parts == {half: 1.0}
    assert run.info.problem_set == half


def test_unscored_and_zero_stay_apart(tmp_path: Path) -> None:
    rewards = [None, 0.0, math.nan, 1.0]
    group = RolloutGroup(tuple(make_rollout(0, s, reward=r) for s, r in enumerate(rewards)))
    with RunWriter(tmp_path / "r", make_info()) as writer:
        writer.write_part([group])
    run = open_run(tmp_path / "r")
    back = [r.reward for r in run.load_group(group.key).rollouts]
    assert back[:2] == [None, 0.0] and math.isnan(back[2] or 0) and back[3] == 1.0
    row = run.summaries().iloc[0]
    assert (row.n_rollouts, row.n_scored, row.n_success, row.pass_rate) == (4, 2, 1, 0.5)
    assert row.mixed


def test_parts_that_are_not_finite_become_unknown() -> None:
    rollout = make_rollout(reward_parts={"a": math.nan, "b": math.inf, "c": 0.0})
    back = row_to_rollout(rollout_to_row(rollout))
    assert back.reward_parts == {"a": None, "b": None, "c": 0.0}


def test_long_completions_and_empty_ones(tmp_path: Path) -> None:
    n = 16_384
    long = make_rollout(0, 0, n_tokens=n, entropy=tuple(float(t) for t in range(n)))
    empty = make_rollout(0, 1, n_tokens=0)
    group = RolloutGroup((long, empty))
    states = make_states([group])
    with RunWriter(tmp_path / "r", make_info()) as writer:
        writer.write_part([group], [states])
    run = open_run(tmp_path / "r")
    assert run.load_group(group.key) == group
    back = run.load_states(group.key, 3)
    assert back is not None
    assert torch.equal(back.rows(0).float(), states.rows(0)) and len(back.rows(1)) == 0


def test_states_of_each_group_come_back(tmp_path: Path) -> None:
    parts = [[make_group(0), make_group(1, size=2)], [make_group(2)]]
    with RunWriter(tmp_path / "r", make_info()) as writer:
        for groups in parts:
            writer.write_part(groups, [make_states(groups, 0), make_states(groups, 3)])
    run = open_run(tmp_path / "r")
    assert run.layers == (0, 3)
    for groups in parts:
        for layer in (0, 3):
            whole, row = make_states(groups, layer), 0
            for group in groups:
                back = run.load_states(group.key, layer)
                assert back is not None and back.layer == layer and back.after_norm
                assert back.states.dtype == torch.bfloat16
                for b in range(len(group)):
                    assert torch.equal(back.rows(b).float(), whole.rows(row + b))
                row += len(group)
    assert run.load_states(make_group(0).key, 1) is None


def test_states_of_some_rollouts_only(tmp_path: Path) -> None:
    kept, bare = make_group(0, size=2), make_group(1, size=2)
    n = len(kept.rollouts[1].completion_ids)
    states = HiddenStates(
        states=torch.ones(n, 2),
        offsets=torch.tensor([0, 0, n, n, n]),
        layer=2,
        after_norm=False,
        projection=Projection(source_size=6, seed=1, error=0.25),
    )
    with RunWriter(tmp_path / "r", make_info(), states_dtype="float32") as writer:
        writer.write_part([kept, bare], [states])
    run = open_run(tmp_path / "r")
    back = run.load_states(kept.key, 2)
    assert back is not None and not back.after_norm
    assert back.states.dtype == torch.float32
    assert back.projection == Projection(source_size=6, seed=1, error=0.25)
    assert back.offsets.tolist() == [0, 0, n]
    assert run.load_states(bare.key, 2) is None


def test_states_that_do_not_fit_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    group = make_group(0)
    with RunWriter(tmp_path / "r", make_info()) as writer:
        with pytest.raises(ShapeError, match="2 rollouts were given for a part of 3"):
            writer.write_part([group], [make_states([make_group(0, size=2)])])
        with pytest.raises(ShapeError, match=r"/0/0: 4 states for 3 tokens"):
            writer.write_part([group], [make_states([make_group(0, n_tokens=4)])])
    assert open_run(tmp_path / "r").keys() == ()


def test_groups_are_written_once_and_in_order(tmp_path: Path) -> None:
    group = make_group(0)
    with RunWriter(tmp_path / "r", make_info()) as writer:
        writer.write_part([group])
        with pytest.raises(InvalidInputError, match="has the group"):
            writer.write_part([make_group(1), group])
        with pytest.raises(InvalidInputError, match="has the group"):
            writer.write_part([make_group(2), make_group(2)])
        with pytest.raises(InvalidInputError, match="rising order"):
            writer.write_part([RolloutGroup((make_rollout(3, 1), make_rollout(3, 0)))])
        with pytest.raises(InvalidInputError, match="at least one group"):
            writer.write_part([])
    run = open_run(tmp_path / "r")
    assert run.keys() == (group.key,)
    with pytest.raises(MissingInputError, match="has no group"):
        run.load_group(GroupKey(None, "nobody", 0))


def test_the_header_comes_back(tmp_path: Path) -> None:
    training = TrainingInfo(
        trainer="trl 1.16.0", credit="{}", method_version=1, layer=3, loss_type="dapo", beta=0.0
    )
    info = make_info(
        versions={"torch": "2"}, success_threshold=0.25, global_step=7, training=training
    )
    RunWriter(tmp_path / "r", info).close()
    assert open_run(tmp_path / "r").info == info


def test_a_run_of_another_training_is_not_resumed(tmp_path: Path) -> None:
    training = TrainingInfo(trainer="trl 1.16.0", credit="{}", method_version=1, loss_type="dapo")
    RunWriter(tmp_path / "r", make_info(training=training)).close()
    other = make_info(training=replace(training, loss_type="grpo"))
    with pytest.raises(InvalidInputError, match=r"training.loss_type was 'dapo', now 'grpo'"):
        RunWriter(tmp_path / "r", other)
    with pytest.raises(InvalidInputError, match="training was"):
        RunWriter(tmp_path / "r", make_info())
