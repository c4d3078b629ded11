from __future__ import annotations

from pathlib import Path

import pytest
import torch

from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.errors import FormatError, MissingInputError, ShapeError, StoreError
from hara_viz.store import (
    Annotation,
    CreditWriter,
    Kind,
    RunWriter,
    annotate,
    describe_credit,
    list_credit,
    list_runs,
    load_credit,
    open_run,
    undo,
)
from hara_viz.types import HiddenStates, RolloutGroup
from tests.store.builders import make_group, make_info, make_states

CONFIG = CreditConfig(n_support=3, n_anchors=2)


def assign(group: RolloutGroup, states: HiddenStates, config: CreditConfig = CONFIG) -> Credit:
    logprobs = torch.tensor([v for r in group.rollouts for v in r.logprobs or ()])
    return assign_credit_packed(
        states.states,
        states.offsets,
        group.rewards,
        torch.zeros(len(group), dtype=torch.int64),
        config,
        logprobs=logprobs,
    )


def same(a: Credit, b: Credit) -> None:
    for name in ("advantages", "baseline", "weights", "novelty_feature", "novelty_structure"):
        assert torch.equal(getattr(a, name), getattr(b, name)), name
    torch.testing.assert_close(a.novelty, b.novelty)
    assert a.diagnostics == b.diagnostics
    assert len(a.outcomes) == len(b.outcomes)
    for one, other in zip(a.outcomes, b.outcomes, strict=True):
        for name in ("group", "success", "rows", "converged", "iterations", "changes"):
            assert getattr(one, name) == getattr(other, name), name
        assert (one.barycenter is None) == (other.barycenter is None)
        if one.barycenter is not None and other.barycenter is not None:
            for name in ("features", "structure", "locations", "weights"):
                ours, theirs = getattr(one.barycenter, name), getattr(other.barycenter, name)
                assert torch.equal(ours.float(), theirs.float()), name
        assert len(one.plans) == len(other.plans)
        for ours, theirs in zip(one.plans, other.plans, strict=True):
            torch.testing.assert_close(ours.float(), theirs.float(), atol=1e-3 / len(ours), rtol=0)
            torch.testing.assert_close(theirs.sum(1), torch.full((len(theirs),), 1 / len(theirs)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Two parts of two groups of four rollouts; the last group's states are not kept."""
    with RunWriter(tmp_path / "r", make_info()) as writer:
        for p in range(2):
            groups = [make_group(2 * p, size=4), make_group(2 * p + 1, size=4)]
            states = make_states(groups)
            if p == 1:
                n = int(states.offsets[4])
                bare = torch.cat([states.offsets[:5], torch.full((4,), n)])
                states = HiddenStates(
                    states=states.states[:n], offsets=bare, layer=3, after_norm=True
                )
            writer.write_part(groups, [states])
        writer.finish()
    return tmp_path / "r"


def keep(path: Path, config: CreditConfig = CONFIG) -> str:
    run = open_run(path)
    with CreditWriter(run, config, 3) as writer:
        for part in writer.missing_parts:
            groups = run.load_part(part)
            states = [run.load_states(group.key, 3) for group in groups]
            credits = [
                None if s is None else assign(g, s, config)
                for g, s in zip(groups, states, strict=True)
            ]
            writer.write_part(part, groups, credits)
        writer.finish()
        return writer.fingerprint


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        CreditConfig(signal="surprisal"),
        CreditConfig(n_support=3, n_anchors=2, reference="group", granularity={"token": 1}),
        CreditConfig(n_support=2, n_anchors=2, reference="leave_one_out", weight_range=(0, 2)),
    ],
    ids=["hara", "rival", "group", "leave_one_out"],
)
def test_credit_comes_back(path: Path, config: CreditConfig) -> None:
    fingerprint = keep(path, config)
    run = open_run(path)
    for p in range(3):
        group = make_group(p, size=4)
        states = run.load_states(group.key, 3)
        kept = load_credit(run, fingerprint, group.key)
        assert states is not None and kept is not None
        same(assign(group, states, config), kept)
    assert load_credit(run, fingerprint, make_group(3).key) is None
    assert [info.config for info in list_credit(run)] == [config]
    assert list_credit(run)[0].fingerprint == fingerprint


def test_summaries_show_the_mean_novelty(path: Path) -> None:
    assert list_runs(path.parent)[0].novelty_mean is None
    fingerprint = keep(path)
    run = open_run(path)
    frame = run.summaries()
    kept = load_credit(run, fingerprint, make_group(1).key)
    assert kept is not None
    assert frame["mean_novelty"].tolist()[1] == pytest.approx(float(kept.novelty.mean()))
    assert frame["mean_novelty"].isna().tolist() == [False, False, False, True]
    assert frame["credit"].tolist() == [fingerprint] * 4
    assert list_runs(path.parent)[0].novelty_mean == pytest.approx(frame["mean_novelty"].mean())


def test_a_broken_off_credit_goes_on_and_a_grown_run_stays_valid(path: Path) -> None:
    run = open_run(path)
    with CreditWriter(run, CONFIG, 3) as writer:
        groups = run.load_part("part-00000")
        writer.write_part("part-00000", groups, [None, None])
        (path / "credit" / writer.fingerprint / ".part-00001.safetensors.writing").write_text("")
    with CreditWriter(run, CONFIG, 3) as writer:
        assert writer.missing_parts == ("part-00001",)
    fingerprint = keep(path)
    with RunWriter(path, make_info()) as grown:
        group = make_group(8, size=4)
        grown.write_part([group], [make_states([group])])
    with CreditWriter(open_run(path), CONFIG, 3) as writer:
        assert (writer.fingerprint, writer.missing_parts) == (fingerprint, ("part-00002",))


def test_each_input_has_its_own_fingerprint(path: Path) -> None:
    run = open_run(path)
    group = make_group(9)
    with RunWriter(path, make_info()) as writer:
        writer.write_part([group], [make_states([group], layer=1)])
    prints = {
        describe_credit(run, CONFIG, 3).fingerprint,
        describe_credit(run, CONFIG, 1).fingerprint,
        describe_credit(run, CONFIG, None).fingerprint,
        describe_credit(run, CreditConfig(n_support=3, n_anchors=2, alpha=0), 3).fingerprint,
    }
    assert len(prints) == 4
    assert describe_credit(open_run(path), CONFIG, 3).fingerprint in prints
    with pytest.raises(MissingInputError, match=r"no states of layer 2 \(layers held: 1, 3\)"):
        describe_credit(run, CONFIG, 2)


def test_a_changed_verdict_voids_its_group_alone(path: Path) -> None:
    fingerprint = keep(path)
    changed, other = make_group(0).key, make_group(1).key
    verdict = annotate(path, Annotation(kind=Kind.VERDICT, key=changed, sample=0, reward=1.0))
    run = open_run(path)
    assert load_credit(run, fingerprint, changed) is None
    assert load_credit(run, fingerprint, other) is not None
    with CreditWriter(run, CONFIG, 3) as writer:
        assert writer.missing_parts == ("part-00000",)
    assert keep(path) == fingerprint
    kept = load_credit(open_run(path), fingerprint, changed)
    assert kept is not None and kept.diagnostics[0].n_success == 3
    undo(path, verdict.id)
    assert load_credit(open_run(path), fingerprint, changed) is None


def test_what_does_not_fit_is_refused(path: Path) -> None:
    run = open_run(path)
    groups = run.load_part("part-00000")
    states = run.load_states(groups[0].key, 3)
    assert states is not None
    credit = assign(groups[0], states)
    with CreditWriter(run, CONFIG, 3) as writer:
        with pytest.raises(ShapeError, match="1 records of credit for 2 groups"):
            writer.write_part("part-00000", groups, [credit])
        with pytest.raises(ShapeError, match="pass one packed record per group"):
            small = RolloutGroup(groups[1].rollouts[:2])
            writer.write_part("part-00000", [groups[0], small], [credit, credit])
        with pytest.raises(StoreError, match="is already being written"):
            CreditWriter(run, CONFIG, 3)


def test_damage_is_named_and_other_credit_is_left_out_of_the_list(path: Path) -> None:
    fingerprint = keep(path)
    folder = path / "credit" / fingerprint
    (path / "credit" / "old").mkdir()
    tensors = folder / "part-00000.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:-3])
    run, key = open_run(path), make_group(0).key
    with pytest.raises(FormatError, match=r"part-00000\.safetensors is damaged"):
        load_credit(run, fingerprint, key)
    for bad in ("../..", "", "0" * 15):
        with pytest.raises(FormatError, match="not the fingerprint"):
            load_credit(run, bad, key)
    assert load_credit(run, "0" * 16, key) is None
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"alpha": 0.5', '"alpha": 0.4'))
    assert list_credit(run) == ()


@pytest.mark.slow
def test_datasets_opens_credit(path: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    fingerprint = keep(path)
    loaded = datasets.load_dataset(
        str(path), f"credit-{fingerprint}", cache_dir=str(tmp_path / "cache")
    )
    rows = loaded["train"]
    assert len(rows) == 16 and len(rows[1]["weights"]) == 4 and rows[15]["weights"] is None
