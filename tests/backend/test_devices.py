from __future__ import annotations

import subprocess
import sys

from hara_viz.backend.devices import Device, list_devices, parse_gpus


def test_gpus_are_read_off_the_drivers_report() -> None:
    report = "0, NVIDIA H100, 40960, 81920\n1, GB10, [N/A], [N/A]\nNo devices were found\n"
    assert parse_gpus(report) == [
        Device("cuda:0", "cuda:0: NVIDIA H100, 40 of 80 GiB free"),
        Device("cuda:1", "cuda:1: GB10"),
    ]


def test_auto_comes_first_and_the_cpu_is_always_there() -> None:
    names = [device.name for device in list_devices()]
    assert names[0] == "auto"
    assert "cpu" in names


def test_listing_devices_opens_none() -> None:
    code = (
        "import sys, hara_viz.backend.devices as d; d.list_devices(); "
        "print(sys.modules['torch'].cuda.is_initialized() if 'torch' in sys.modules else False)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"
