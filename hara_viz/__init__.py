"""HarA-Viz: see, token by token, where the credit of an RLVR rollout goes and why.

A trainer imports `hara_viz.credit` and needs torch and numba alone. Nothing heavy is loaded before
it is asked for. A notebook starts with `hara_viz.open_run(path)`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hara_viz.store import open_run as open_run

__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> Any:
    """Load `open_run` (and with it torch and pyarrow) at its first use."""
    if name == "open_run":
        from hara_viz.store import open_run

        return open_run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
