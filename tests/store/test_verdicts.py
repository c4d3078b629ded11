"""What changes a verdict after sampling: rewards versions and annotations."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from hara_viz.errors import InvalidInputError, SchemaError, ShapeError, StoreError
from hara_viz.store import (
    Annotation,
    Kind,
    RewardsWriter,
    Run,
    RunWriter,
    annotate,
    list_runs,
    open_run,
    undo,
)
from hara_viz.types import Judgement
from tests.store.builders import make_group, make_info

KEY = make_group(0).key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with RunWriter(tmp_path / "r", make_info()) as writer:
        for p in range(2):
            writer.write_part([make_group(2 * p), make_group(2 * p + 1)])
        writer.finish()
    return tmp_path / "r"


def rewards(run: Run, problem: int = 0) -> list[float | None]:
    return [r.reward for r in run.load_group(make_group(problem).key).rollouts]


def score(path: Path, writer: RewardsWriter, part: str, reward: float | None) -> None:
    rollouts = [r for group in open_run(path).load_part(part) for r in group.rollouts]
    verdict = Judgement(
        reward=reward, parts={"number": reward}, extracted_answer="7", reason="match"
    )
    writer.write_part(part, rollouts, [verdict] * len(rollouts))


def test_the_latest_version_overrides(path: Path) -> None:
    assert rewards(open_run(path)) == [0, 1, 0]
    for reward, version in ((1.0, "v0001"), (None, "v0002")):
        with RewardsWriter(path, "number") as writer:
            for part in writer.missing_parts:
                score(path, writer, part, reward)
            writer.finish()
        run = open_run(path)
        assert run.rewards_version == version
        assert rewards(run) == rewards(run, 3) == [reward] * 3
        assert [r.reward for g in run.load_part("part-00001") for r in g.rollouts] == [reward] * 6
        rollout = run.load_group(KEY).rollouts[0]
        assert rollout.reward_parts == {"number": reward} and rollout.extracted_answer == "7"
        assert rollout.reward_reason == "match"
        assert run.summaries()["rewards"].tolist() == [[reward] * 3] * 4
        assert run.summaries()["n_answered"].tolist() == [3] * 4
    assert list_runs(path.parent)[0].n_scored == 0


def test_a_broken_off_version_changes_nothing_and_is_taken_up_again(path: Path) -> None:
    with RewardsWriter(path, "number") as writer:
        score(path, writer, "part-00000", 1.0)
        with pytest.raises(StoreError, match="part-00001 not scored"):
            writer.finish()
    run = open_run(path)
    assert run.rewards_version is None and rewards(run) == [0, 1, 0]
    assert run.summaries()["n_success"].tolist() == [1] * 4
    with RewardsWriter(path, "number") as writer:
        assert (writer.version, writer.missing_parts) == ("v0001", ("part-00001",))
    with RewardsWriter(path, "exact") as writer:  # another reward begins its own
        assert writer.version == "v0002"


def test_a_run_that_grew_after_scoring_says_so(path: Path) -> None:
    with RewardsWriter(path, "number") as writer:
        for part in writer.missing_parts:
            score(path, writer, part, 1.0)
        writer.finish()
    with RunWriter(path, make_info()) as grown:
        grown.write_part([make_group(9)])
        grown.finish()
    run = open_run(path)
    assert rewards(run, 9) == [0, 1, 0] and rewards(run) == [1, 1, 1]
    assert "1 part(s) are newer than the rewards v0001" in run.warnings()[0]
    with RewardsWriter(path, "number") as writer:
        assert (writer.version, writer.missing_parts) == ("v0001", ("part-00002",))
        score(path, writer, "part-00002", 1.0)
        writer.finish()
    run = open_run(path)
    assert run.warnings() == () and rewards(run, 9) == [1, 1, 1]
    assert run.summaries()["n_success"].tolist() == [3] * 5


def test_killed_between_a_version_and_the_index(path: Path) -> None:
    index = (path / "groups.parquet").read_bytes()
    with RewardsWriter(path, "number") as writer:
        for part in writer.missing_parts:
            score(path, writer, part, 1.0)
        writer.finish()
    (path / "groups.parquet").write_bytes(index)
    assert open_run(path).summaries()["n_success"].tolist() == [3] * 4


def test_verdicts_must_be_on_the_same_rollouts(path: Path) -> None:
    with RewardsWriter(path, "number") as writer:
        with pytest.raises(ShapeError, match="1 verdicts for 0 rollouts"):
            writer.write_part("part-00000", [], [Judgement(reward=1.0)])
        strangers = [r for p in (7, 8) for r in make_group(p).rollouts]
        for part in writer.missing_parts:
            writer.write_part(part, strangers, [Judgement(reward=1.0)] * 6)
        writer.finish()
    with pytest.raises(SchemaError, match="remove the rewards version and score again"):
        open_run(path).load_group(KEY)


def test_one_scorer_at_a_time(path: Path) -> None:
    with RewardsWriter(path, "number"), pytest.raises(StoreError, match="rewards version"):
        RewardsWriter(path, "number")
    RewardsWriter(path, "number").close()


def test_an_overridden_verdict_counts_everywhere_and_can_be_taken_back(path: Path) -> None:
    verdict = annotate(
        path, Annotation(kind=Kind.VERDICT, key=KEY, sample=0, reward=1.0, text="1/2 = 0.5")
    )
    run = open_run(path)
    assert rewards(run) == [1, 1, 0] and rewards(run, 1) == [0, 1, 0]
    assert run.load_group(KEY).rollouts[0].reward_reason == "overridden: 1/2 = 0.5"
    assert run.summaries()["n_success"].tolist() == [2, 1, 1, 1]
    assert list_runs(path.parent)[0].n_success == 5
    taken_back = undo(path, verdict.id)
    assert rewards(open_run(path)) == [0, 1, 0]
    annotate(path, Annotation(kind=Kind.UNDO, target=taken_back.id))
    assert rewards(open_run(path)) == [1, 1, 0]


def test_the_latest_verdict_holds_and_scoring_again_keeps_it(path: Path) -> None:
    for reward in (1.0, 0.25):
        annotate(path, Annotation(kind=Kind.VERDICT, key=KEY, sample=1, reward=reward))
    with RewardsWriter(path, "number") as writer:
        for part in writer.missing_parts:
            score(path, writer, part, None)
        writer.finish()
    assert rewards(open_run(path)) == [None, 0.25, None]


def test_a_torn_line_is_skipped_and_counted(path: Path) -> None:
    note = annotate(path, Annotation(kind=Kind.NOTE, key=KEY, text="odd\n\ud83d <b>"))
    file = path / "annotations.jsonl"
    with file.open("ab") as stream:
        stream.write(b'{"kind": "note", "key": [nu')  # the power went
    assert open_run(path).annotations.active == (note,)
    mark = annotate(path, Annotation(kind=Kind.BOOKMARK, key=KEY, sample=2, token=1))
    run = open_run(path)
    assert run.annotations.active == (note, mark)
    assert run.annotations.n_unreadable == 1
    assert "1 line(s) of annotations.jsonl" in run.warnings()[0]
    assert len(file.read_bytes().splitlines()) == 3


@pytest.mark.parametrize(
    "line",
    ["null", "[]", "7", "{}", '{"kind": "love"}', '{"kind": "note"}', "\xff", "[" * 100_000],
)
def test_lines_by_other_hands(path: Path, line: str) -> None:
    (path / "annotations.jsonl").write_bytes(line.encode("latin-1") + b"\n\n")
    annotations = open_run(path).annotations
    assert annotations.active == () and annotations.n_unreadable == 1


def test_annotations_that_cannot_be_read_are_a_sentence(path: Path) -> None:
    (path / "annotations.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"annotations\.jsonl could not be read"):
        _ = open_run(path).annotations


def test_annotations_must_say_something(path: Path) -> None:
    with pytest.raises(InvalidInputError, match="verdict annotation needs sample and reward"):
        Annotation(kind=Kind.VERDICT, key=KEY)
    with pytest.raises(InvalidInputError, match="no annotation 'nope'"):
        undo(path, "nope")


def test_annotations_of_many_threads(path: Path) -> None:
    def write(number: int) -> None:
        annotate(path, Annotation(kind=Kind.NOTE, key=KEY, text=str(number) * 500))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (path / "annotations.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["text"][0] for line in lines) == sorted(
        str(n)[0] for n in range(12)
    )
