"""Search over all rollouts of the run; a click goes to the token."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hara_viz.backend.runs import open_run
from hara_viz.backend.text_search import TextHits, search_run, search_run_at
from hara_viz.errors import HaraError
from hara_viz.ui import data
from hara_viz.ui.click_table import click_table
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.side_work import computed
from hara_viz.ui.words import count, inert, one_line

LIVE_TOKENS = 2_000_000
"""Up to this many tokens a search takes under a second and is done here."""
_LIMIT = 200


@st.fragment(key="run-search")
def run_search(view: GroupView) -> None:
    """A field for the words, and where they stand."""
    words = st.text_input(
        "Search all rollouts of this run",
        placeholder="Words in any completion; case does not matter",
        icon=":material/search:",
        key="run.search",
        max_chars=200,
    )
    if not words.strip():
        st.caption("The search above the text looks through this group; this one through the run.")
        return
    found = _found(view, words)
    if found is None:
        return
    if not found.hits:
        st.caption(f"None of {count(found.n_searched, 'rollout')} holds these words.")
        return
    click_table(
        hit_frame(view.run_name, found),
        [
            {
                "global_step": hit.key.global_step,
                "problem": hit.key.problem_id,
                "group": hit.key.group,
                "sample": hit.sample,
                "token": hit.token,
            }
            for hit in found.hits
        ],
        key="run.hits",
        columns={
            "problem": st.column_config.TextColumn(width=200),
            "rollout": st.column_config.NumberColumn(width=56),
            "times": st.column_config.NumberColumn(
                width=48, help="Places in this rollout; the first is shown"
            ),
            "before": st.column_config.TextColumn(width=190),
            "found": st.column_config.TextColumn(width=140),
            "after": st.column_config.TextColumn(width=190),
        },
    )
    first = "" if found.n_found == len(found.hits) else f" The first {len(found.hits)} are listed."
    st.caption(
        f"{found.n_found} of {count(found.n_searched, 'rollout')} hold these words.{first} "
        "Click a row to go there."
    )


def hit_frame(run: str, found: TextHits) -> pd.DataFrame:
    """What `run_search` lists."""
    groups = data.run_table(run).groups
    heads = dict(zip(groups["problem_id"], groups["prompt_head"].fillna(""), strict=True))
    return pd.DataFrame(
        [
            {
                "problem": one_line(heads.get(hit.key.problem_id) or hit.key.problem_id, 60),
                "rollout": hit.sample,
                "times": hit.n_places,
                "before": one_line(hit.before),
                "found": one_line(hit.inside, 80),
                "after": one_line(hit.after),
            }
            for hit in found.hits
        ]
    )


def _found(view: GroupView, words: str) -> TextHits | None:
    path, stamp = str(view.run.path), view.stamp
    if sum(data.run_table(view.run_name).groups["n_tokens"].tolist()) > LIVE_TOKENS:
        return computed(
            search_run_at, path, stamp, words, _LIMIT, message="Searching …", key="run.search.work"
        )
    try:
        return _live(path, stamp, words)
    except HaraError as error:
        st.warning(inert(str(error), 600))
        return None


@st.cache_data(max_entries=32, show_spinner="Searching …")
def _live(path: str, stamp: int, words: str) -> TextHits:
    return search_run(open_run(path), words, _LIMIT)
