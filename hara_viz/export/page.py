"""One self-contained page around the token heatmap: opens from disk, asks nothing of any network.

A policy of `default-src 'none'` allows the one script and the one style sheet by their hashes, so
whatever a model wrote can neither run nor fetch. The component's bytes lie in data blocks, which no
browser executes.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Sequence
from pathlib import Path

from hara_viz.components.token_heatmap import assets
from hara_viz.text import inert

_STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
# What Streamlit does for the component in the app, without a Python to answer.
_MOUNT = """
{
  const mount = document.getElementById("mount");
  const read = ({ textContent }) => Uint8Array.from(atob(textContent), (c) => c.charCodeAt(0));
  window.haraSignals = [...document.querySelectorAll("[data-signal]")].map(read);
  const data = read(document.getElementById("frame"));
  const show = () => tokenHeatmap({ data, parentElement: mount, setTriggerValue: null });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}
"""


def page_of(
    *,
    title: str,
    question: str,
    facts: Sequence[str],
    notes: Sequence[str],
    frame: bytes,
    origin: str,
    signals: Sequence[bytes] = (),
) -> str:
    """The page as text.

    Args:
        title: of the window and on top of the page.
        question: the problem; shown as it is.
        facts: short statements under it, such as the gold answer.
        notes: whole sentences, such as why there is no credit.
        frame: `token_heatmap.encode` of a group.
        origin: which run, version and credit the page is of; stands at its end.
        signals: `encode_signal` of the further signals that its `offers` name.
    """
    component = assets()
    script = _sound(component.js + _MOUNT)
    style = _sound(component.css + _STYLE)
    policy = (
        f"default-src 'none'; script-src 'sha256-{_hash(script)}'; "
        f"style-src 'sha256-{_hash(style)}'; base-uri 'none'; form-action 'none'"
    )
    blocks = [f'<script type="application/octet-stream" id="frame">{_base64(frame)}</script>']
    blocks += [
        f'<script type="application/octet-stream" data-signal>{_base64(data)}</script>'
        for data in signals
    ]
    said = "".join(f"<p class='note'>{_text(note)}</p>" for note in notes)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{_text(title)}</h1>
<p class="question">{_text(question)}</p>
<p class="facts">{_text(" · ".join(facts))}</p>
{said}</header>
<main><h2 class="unseen">Rollouts</h2><div id="mount">{component.html}</div></main>
<footer>{_text(origin)}</footer>
<noscript>This page needs JavaScript, which it carries along.</noscript>
{chr(10).join(blocks)}
<script type="module">{script}</script>
</body>
</html>
"""


def _text(text: str) -> str:
    return html.escape(inert(text))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _sound(text: str) -> str:
    """Our own script or style sheet; it must not end the element that it stands in."""
    assert "</" not in text and "<!--" not in text, "this would end the element early"
    return text
