from __future__ import annotations

from tests.ui.conftest import app_runs as app_runs
