"""The import rules of the house (CONTRIBUTING.md): who may import whom, and what never loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {
    "text", "ot", "credit", "models", "problems", "rewards", "importers", "store", "backend",
    "analysis", "plots", "components", "export", "ui", "integrations",
}  # fmt: skip

# Room -> rooms and packages it may import (besides the standard library and itself).
BELOW_BACKEND = {
    "text", "types", "errors", "ot", "credit", "models", "problems", "rewards", "importers",
    "store", "analysis", "hara_viz",
}  # fmt: skip
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "text": {"errors"},
    "types": {"errors", "torch"},
    "ot": {"errors", "torch", "numpy", "numba", "ot_package"},
    "credit": {"ot", "types", "errors", "torch"},
    "problems": {"types", "errors", "text", "pyarrow"},
    "rewards": {"types", "errors", "text", "math_verify", "latex2sympy2_extended", "sympy"},
    "importers": {"types", "errors", "text", "pyarrow", "torch"},
    "models": {
        "types", "errors", "text", "torch", "transformers", "peft", "safetensors", "gguf",
        "tokenizers", "huggingface_hub", "numpy", "jinja2",
    },
    "store": {
        "types", "errors", "text", "ot", "credit", "torch", "pyarrow", "safetensors", "numpy",
        "pandas", "hara_viz",
    },
    "analysis": {"types", "errors", "text", "ot", "credit", "torch", "numpy", "pandas", "scipy",
                 "sklearn", "umap"},
    "backend": BELOW_BACKEND | {"torch", "numpy", "pandas", "pyarrow", "transformers"},
    "plots": {"types", "errors", "text", "ot", "credit", "analysis", "plotly", "numpy", "pandas",
              "torch"},
    "components": {"types", "errors", "text", "ot", "credit", "analysis", "numpy", "torch"},
    "export": {"backend", "store", "plots", "components", "analysis", "types", "errors", "text",
               "credit", "numpy", "pandas", "plotly", "pyarrow", "hara_viz", "torch"},
    "ui": {"backend", "export", "analysis", "plots", "components", "types", "errors", "text",
           "credit", "streamlit", "numpy", "pandas", "hara_viz"},
    "pages": {"ui", "backend", "analysis", "plots", "streamlit", "pandas", "numpy"},
    "app": {"ui", "backend", "analysis", "plots", "streamlit"},
    "integrations": {"credit", "store", "text", "types", "errors", "torch", "trl", "verl",
                     "transformers", "accelerate", "numpy"},
    "cli": {"backend", "export", "errors", "types", "text", "typer", "rich", "hara_viz"},
}  # fmt: skip
LAZY_ONLY = {
    "ot": {"numpy", "numba", "ot_package"},
    "models": {"transformers", "peft", "gguf", "huggingface_hub"},
    "analysis": {"umap"},
    "rewards": {"math_verify", "latex2sympy2_extended", "sympy"},
}
# These are themselves imported inside the function that needs them.
LOADED_LATE = {"compiled_steps.py"}


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT).parts
    if parts[0] == "hara_viz":
        return parts[1].removesuffix(".py") if len(parts) > 1 else "hara_viz"
    return parts[0].removesuffix(".py")


def source_files() -> list[Path]:
    files = [*ROOT.glob("hara_viz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    return [f for f in files if f.exists() and room_of(f) != "__init__"]


def imported_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        if node.module == "hara_viz":
            return [f"hara_viz.{alias.name}" for alias in node.names]
        return [node.module]
    return []


def target(module: str) -> str:
    parts = module.split(".")
    if parts[0] == "hara_viz":
        known = ROOMS | {"types", "errors", "cli"}
        return parts[1] if len(parts) > 1 and parts[1] in known else "hara_viz"
    return "ot_package" if parts[0] == "ot" else parts[0]


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def top_level_imports(tree: ast.Module) -> set[str]:
    return {
        target(name)
        for node in tree.body
        if not is_type_checking(node)
        for name in imported_names(node)
    }


@pytest.mark.parametrize("path", source_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_stay_in_their_rooms(path: Path) -> None:
    room = room_of(path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {target(n) for node in ast.walk(tree) for n in imported_names(node)}
    found -= set(sys.stdlib_module_names)
    forbidden = found - ALLOWED[room] - {room}
    assert not forbidden, f"{path.name} in {room} may not import {sorted(forbidden)}"
    eager = top_level_imports(tree) & LAZY_ONLY.get(room, set())
    assert not eager or path.name in LOADED_LATE, (
        f"{path.name} must import {sorted(eager)} inside the function that needs it"
    )


def test_every_room_is_known() -> None:
    rooms = {room_of(path) for path in source_files()}
    assert rooms <= set(ALLOWED), f"rooms without a rule: {sorted(rooms - set(ALLOWED))}"


def test_no_utils() -> None:
    assert not [p for p in source_files() if p.stem in {"utils", "helpers", "misc", "common"}]


@pytest.mark.parametrize("path", source_files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_files_stay_short(path: Path) -> None:
    limit = {"app": 80, "pages": 120}.get(room_of(path), 500)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("hara_viz", ["torch", "streamlit", "transformers", "pandas"]),
        ("hara_viz.cli.frame", ["torch", "pandas", "pyarrow", "rich.table"]),
        ("hara_viz.backend.sample", ["streamlit", "plotly", "transformers"]),
        ("hara_viz.backend.jobs", ["streamlit", "plotly", "transformers"]),
        ("hara_viz.credit", ["streamlit", "transformers", "pandas", "ot", "pyarrow", "sklearn"]),
        ("hara_viz.credit", ["numba"]),
    ],
)
def test_imports_stay_light(module: str, absent: list[str]) -> None:
    code = f"import sys, {module}; print([m for m in {absent!r} if m in sys.modules])"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert shown.stdout.strip() == "[]"
