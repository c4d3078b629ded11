"""One script out of a component's modules: no build step, nothing fetched, readable in the page.

Modules import each other as `import {…} from "./other.js";` (or `"../shared/other.js"`) on lines of
their own and export with
`export function`, `export const` or `export class`. Joined in the order given, those words are all
that has to go, since every name at the top of a module is its own. Only the last module, the entry,
keeps its `export default`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_IMPORT = re.compile(r'^import\s*\{[^}]*\}\s*from\s*"\.{1,2}/[\w./-]+";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)


class Assets(NamedTuple):
    """What `streamlit.components.v2.component(name, html=…, css=…, js=…)` takes."""

    html: str
    css: str
    js: str


def join_modules(folder: Path, names: Sequence[str]) -> str:
    """The text of `names` (without ".js"; paths from `folder`), joined into one module.

    Raises:
        ValueError: a module imports in a way that joining cannot honour.
    """
    parts: list[str] = []
    for name in names:
        text = _IMPORT.sub("", (folder / f"{name}.js").read_text(encoding="utf-8"))
        text = _EXPORT.sub("", text)
        if left := re.search(r"^import\b.*|\bimport\(.*", text, re.MULTILINE):
            raise ValueError(
                f'{name}.js has {left.group()!r}; import as {{…}} from "./other.js" on a line'
            )
        parts.append(f"// ---- {name}.js\n{text}")
    return "\n".join(parts)
