"""Search over a run: every completion, case ignored, the token where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz import open_run
from hara_viz.backend.text_search import search_run
from hara_viz.errors import InvalidInputError
from tests.small_runs import HOSTILE, HOSTILE_TEXTS


def brute(run_path: Path, words: str) -> dict[tuple[str, int], int]:
    run = open_run(run_path)
    texts = {
        (key.problem_id, r.sample): r.completion_text
        for key in run.keys()  # noqa: SIM118
        for r in run.load_group(key).rollouts
    }
    counts = {place: text.lower().count(words.lower()) for place, text in texts.items()}
    return {place: n for place, n in counts.items() if n}


@pytest.mark.parametrize("words", ["the", "PENS", "3 ", ".", "<script>", "(", "zzz"])
def test_every_completion_is_searched(small_run: Path, words: str) -> None:
    found = search_run(open_run(small_run), words)
    shown = {(hit.key.problem_id, hit.sample): hit.n_places for hit in found.hits}
    assert shown == brute(small_run, words)
    assert found.n_found == len(found.hits) and found.n_searched == 13


def test_a_hit_names_the_token_that_holds_it(small_run: Path) -> None:
    run = open_run(small_run)
    text = HOSTILE_TEXTS[1][0]
    words = text.split()[3]
    hit = next(h for h in search_run(run, words).hits if h.key.problem_id == HOSTILE.problem_id)
    rollout = next(r for r in run.load_group(hit.key).rollouts if r.sample == hit.sample)
    starts = [*(rollout.cell_start or ()), len(rollout.completion_text)]
    assert hit.token is not None
    place = rollout.completion_text.index(words)
    assert starts[hit.token] <= place < starts[hit.token + 1]
    assert hit.before + hit.inside + hit.after in rollout.completion_text


def test_many_hits_are_counted_and_the_first_are_kept(small_run: Path) -> None:
    run = open_run(small_run)
    everything, few = search_run(run, "e"), search_run(run, "e", limit=2)
    assert few.hits == everything.hits[:2] and few.n_found == everything.n_found > 2


def test_nothing_to_look_for(small_run: Path) -> None:
    with pytest.raises(InvalidInputError, match="nothing to look for"):
        search_run(open_run(small_run), "  ")
