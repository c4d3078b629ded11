"""The form that imports a training's rollout dumps: first a look, then a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from hara_viz.backend.import_run import FORMAT_NAMES, ImportJob, ImportReport
from hara_viz.backend.job_calls import import_arguments
from hara_viz.backend.side_calls import look_at_dump
from hara_viz.errors import HaraError
from hara_viz.ui.finder import find_checkpoints, find_dumps, find_problem_sets, short_name
from hara_viz.ui.import_jobs import ImportWish, job_of
from hara_viz.ui.launch import all_started, launch, launched
from hara_viz.ui.roots import Roots, roots
from hara_viz.ui.sample_jobs import resolve
from hara_viz.ui.side_work import computed
from hara_viz.ui.uploads import UPLOADS, clear_uploads, keep_uploads
from hara_viz.ui.words import count, inert, one_line

_KINDS = ["jsonl", "ndjson", "json", "parquet"]
_LOOKS, _DROPS = "import.looks", "import.drops"


def import_form() -> None:
    """An expander: choose a dump, see what it holds, import it in a process of its own."""
    places = roots()
    with st.expander(
        "Import the rollouts of a training",
        icon=":material/upload_file:",
        key="import.form",
        on_change="rerun",  # Python knows: it stays open when jobs appear above
    ):
        st.caption(
            "Dumps of TRL, verl, prime-rl, verifiers, NeMo-RL, open-instruct, SkyRL, Relax, ROLL, "
            "or one JSON object per rollout (prompt, completion, reward, step)."
        )
        try:
            source = _source(places)
        except HaraError as error:
            st.error(inert(str(error), 600))
            return
        launched("import")
        if source is None:
            st.caption("Choose a folder or drop files; nothing is imported before you see them.")
            return
        format_name = _format_box()
        found: ImportReport | None = computed(
            look_at_dump,
            str(source),
            _stamp(source),
            format_name,
            message="Looking into the dump …",
            key="import.look",
        )
        if found is not None:
            _report(found)
            _start(source, format_name, found, places)


def _source(places: Roots) -> Path | None:
    """The dump that was dropped, else typed, else chosen.

    Raises:
        HaraError: a path outside the allowed folders, or files that cannot be kept.
    """
    left, right = st.columns(2)
    found = left.selectbox(
        "Dumps found",
        [short_name(path, places) for path in find_dumps(places)],
        index=None,
        key="import.found",
        placeholder="Folders named as trainers name them",
    )
    typed = left.text_input(
        "or a file or folder",
        key="import.path",
        placeholder="A path below the allowed folders",
    )
    dropped = right.file_uploader(
        "or files from this computer",
        type=_KINDS,
        accept_multiple_files=True,
        # Another key is an empty field: after Import the form is free for the next dump.
        key=f"import.files.{st.session_state.get(_DROPS, 0)}",
    )
    if dropped:
        files = {file.name: file.getvalue() for file in dropped}
        return keep_uploads(files, places.jobs / UPLOADS)
    clear_uploads(places.jobs)
    chosen = typed or found
    return None if not chosen else resolve(chosen, places)


def _format_box() -> str:
    kind, again = st.columns([3, 1], vertical_alignment="bottom")
    again.button("Look again", key="import.again", icon=":material/refresh:", on_click=_look_again)
    return kind.selectbox(
        "Layout",
        list(FORMAT_NAMES),
        format_func=lambda name: f"{name}: {FORMAT_NAMES[name]}",
        key="import.format",
    )


def _look_again() -> None:
    st.session_state[_LOOKS] = st.session_state.get(_LOOKS, 0) + 1


def _stamp(source: Path) -> int:
    """Changes with the file or folder, and when the user asks to look again."""
    return source.stat().st_mtime_ns + st.session_state.get(_LOOKS, 0)


def _report(found: ImportReport) -> None:
    """What was recognised, how much, what is missing, what is skipped and why."""
    n_skipped = sum(left.count for left in found.skipped)
    more = "" if found.whole else " (the first rows of a longer dump)"
    st.markdown(f"**{inert(found.label)}**, {inert(found.step_words)}{more}")
    columns = st.columns(5)
    figures = {
        "Files": found.n_files,
        "Rows": found.n_rows,
        "Rollouts": found.n_rollouts,
        "Groups": found.n_groups,
        "Rows skipped": n_skipped,
    }
    for column, (name, value) in zip(columns, figures.items(), strict=True):
        column.metric(name, f"{value:,}")
    st.caption(inert(f"Groups: {found.grouped_by} Sizes: {found.size_words}.", 600))
    if found.missing:
        with st.container(border=True):
            st.markdown("**Not in the dump**")
            st.text("\n".join(f"· {what}" for what in found.missing))
    left_out = [*found.skipped, *found.files_left_out]
    if left_out:
        st.dataframe(
            [
                {"left out": left.count, "why": left.reason, "first": one_line(left.example, 160)}
                for left in left_out
            ],
            hide_index=True,
        )
    for warning in found.warnings:
        st.warning(inert(warning, 600))


def _start(source: Path, format_name: str, found: ImportReport, places: Roots) -> None:
    """What else is needed, and the button."""
    wish = ImportWish(source=source, format_name=format_name, **_fields(found, places))
    try:
        job = job_of(wish, places)
    except HaraError as error:
        st.warning(inert(str(error)))
        job = None
    ready = job is not None and (wish.model is not None or not found.needs_tokenizer)
    label = f"Import {count(found.n_rollouts, 'rollout')}" if found.whole else "Import all rows"
    st.button(
        label,
        type="primary",
        disabled=not ready,
        icon=":material/upload:",
        key="import.start",
        on_click=_launch,
        args=(job,),
    )
    if not ready:
        st.caption("The checkpoint is needed for its tokenizer alone: it splits text into tokens.")


def _fields(found: ImportReport, places: Roots) -> dict[str, Any]:
    model, problems = st.columns(2)
    name, threshold = st.columns(2)
    return {
        "model": model.selectbox(
            "Tokenizer of the checkpoint" + ("" if found.needs_tokenizer else " (not needed)"),
            [short_name(path, places) for path in find_checkpoints(places)],
            index=None,
            accept_new_options=True,
            key="import.model",
            placeholder="Choose one, or type a hub id",
            help="A checkpoint of the training; any one, since they share a tokenizer",
        ),
        "problems": problems.selectbox(
            "Problem set (optional)",
            [short_name(path, places) for path in find_problem_sets(places)],
            index=None,
            accept_new_options=True,
            key="import.problems",
            placeholder="Gold answers and exact prompts",
        ),
        "name": name.text_input(
            "Name of the run", key="import.name", placeholder="made from the dump's folder"
        ),
        "threshold": threshold.number_input(
            "Success from reward",
            value=0.5,
            key="import.threshold",
            help="" if found.rewards is None else f"Rewards lie in {_range(found.rewards)}",
        ),
    }


def _range(rewards: tuple[float, float]) -> str:
    return f"{rewards[0]:g} … {rewards[1]:g}"


def _launch(job: ImportJob) -> None:
    launch("import", "import", [import_arguments(job)])
    if all_started("import"):
        st.session_state[_DROPS] = st.session_state.get(_DROPS, 0) + 1
        st.session_state["import.found"] = None
        st.session_state["import.path"] = ""
