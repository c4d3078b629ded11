"""Workers stay within their limits, whatever a verifier does; nothing ever hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hara_viz.errors import ConfigError, FormatError, InvalidInputError
from hara_viz.rewards import RewardItem, RewardPool, parse_reward, parsed_gold
from hara_viz.rewards.process import WorkerDiedError, WorkerProcess
from hara_viz.rewards.worker import ORPHAN_GRACE
from hara_viz.types import Judgement

ROOT = Path(__file__).parents[2]
# A verifier that does whatever the completion tells it to do.
OBEDIENT = """
import os, signal, sys, time

def judge(text, gold):
    print("noise on stdout", flush=True)
    if text == "hang":
        while True: pass
    if text == "hang in C":
        return 9 ** (9 ** 9) > 0
    if text == "hang, deaf":
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: time.sleep(1)
    if text == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if text == "exit":
        os._exit(3)
    if text == "leave":
        sys.exit(0)
    if text == "bomb":
        return len(bytearray(8 << 30))
    if text == "creep":
        hoard = []
        while True: hoard.append(bytearray(1 << 24))
    if text == "raise":
        raise RuntimeError("no idea\\x1b[31m")
    if text.startswith("sleep"):
        time.sleep(float(text.split()[1]))
    return len(text)
"""


@pytest.fixture(scope="module")
def obedient(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("own") / "obedient.py"
    path.write_text(OBEDIENT, encoding="utf-8")
    return f"{path}:judge"


@pytest.fixture(scope="module")
def pool(obedient: str) -> Iterator[RewardPool]:
    with RewardPool(obedient, timeout=1.0, memory_mb=256, allow_code=True) as opened:
        yield opened


def is_running(pid: int) -> bool:
    """Zombies are gone too: not every machine has somebody who reaps orphans."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("hang", "timed out after 1 s"),
        ("hang in C", "timed out after 1 s"),
        ("hang, deaf", "timed out after 1 s"),
        ("die", "verifier crashed: killed by signal 9"),
        ("exit", "verifier crashed: ended with exit code 3"),
        ("leave", "verifier crashed: ended with exit code 0"),
        ("bomb", "verifier ran out of memory (256 MiB)"),
        ("creep", "verifier ran out of memory (256 MiB)"),
        ("raise", "unscored: the verifier failed (RuntimeError: no idea"),
    ],
)
def test_a_bad_verifier_is_an_outcome_of_its_own(pool: RewardPool, order: str, reason: str) -> None:
    began = time.monotonic()
    judged = pool.judge([("good", None), (order, None), ("fine!", None)])
    assert [j.reward for j in judged] == [4.0, None, 5.0]
    assert judged[1].reason.startswith(reason)
    assert time.monotonic() - began < 30


def test_order_is_kept_while_workers_race(pool: RewardPool) -> None:
    items = [("sleep 0.05" if n % 3 == 0 else "x" * n, None) for n in range(60)]
    assert [j.reward for j in pool.judge(items)] == [float(len(text)) for text, _ in items]


def test_results_stream_from_an_endless_input(pool: RewardPool) -> None:
    taken: list[int] = []

    def endless() -> Iterator[tuple[str, None]]:
        while True:
            taken.append(1)
            yield "abc", None

    stream = pool.stream(endless())
    assert [next(stream).reward for _ in range(40)] == [3.0] * 40
    assert len(taken) <= 40 + 16
    stream.close()


def test_killed_from_outside_between_and_while_judging(pool: RewardPool) -> None:
    pool.judge([("warm", None), ("up", None)])
    for pid in pool.pids():
        os.kill(pid, signal.SIGKILL)
    after = pool.judge([("first", None), ("second", None), ("third", None), ("fourth", None)])
    assert [j.reward for j in after][2:] == [5.0, 6.0]
    assert all(j.reward is not None or "crashed" in j.reason for j in after)


def test_hostile_strings_pass_unharmed(pool: RewardPool) -> None:
    texts = [
        "\x00\n\r\x1b[2J",
        "\ud800 half",
        "\u2028\u2029\x85",
        "</script>",
        "𝔘\u202e",
        "x" * 10**6,
    ]
    assert [j.reward for j in pool.judge([(t, t) for t in texts])] == [float(len(t)) for t in texts]


def test_from_another_thread(pool: RewardPool) -> None:
    judged: list[Judgement] = []
    thread = threading.Thread(target=lambda: judged.extend(pool.judge([("abc", None)])))
    thread.start()
    thread.join(30)
    assert [j.reward for j in judged] == [3.0]


def test_closing_ends_workers_that_hang(obedient: str) -> None:
    pool = RewardPool(obedient, timeout=60, allow_code=True)
    raised: list[BaseException] = []

    def judge() -> None:
        try:
            pool.judge([("good", None), ("hang", None), ("hang", None)] * 20)
        except InvalidInputError as error:
            raised.append(error)

    thread = threading.Thread(target=judge)
    thread.start()
    while len(pool.pids()) < 2:
        time.sleep(0.02)
    pids = pool.pids()
    pool.close()
    thread.join(30)
    assert not thread.is_alive()
    assert len(raised) == 1  # no false verdicts
    assert not any(is_running(pid) for pid in pids)
    pool.close()
    with pytest.raises(InvalidInputError, match="closed"):
        pool.judge([("x", None)])


def test_weighted_sum_and_parts() -> None:
    with RewardPool("number + 0.25*format", workers=1) as pool:
        both, loose, none = pool.judge([(r"\boxed{42}", "42"), ("it is 42", "42"), ("42", None)])
    assert (both.reward, dict(both.parts)) == (1.25, {"number": 1.0, "format": 1.0})
    assert (both.extracted_answer, both.answer_start, both.answer_end) == ("42", 7, 9)
    assert (loose.reward, dict(loose.parts)) == (1.0, {"number": 1.0, "format": 0.0})
    assert loose.reason.startswith("number: match") and "format: no boxed" in loose.reason
    assert (none.reward, none.parts["number"], none.parts["format"]) == (None, None, 0.0)


def test_spans_are_of_the_whole_text() -> None:
    text = "<think>41, no, 43</think>\nIt is 42."
    with RewardPool("number", workers=1) as pool:
        (judged,) = pool.judge([RewardItem(text, "42")])
    assert judged.answer_start is not None and judged.answer_end is not None
    assert text[judged.answer_start : judged.answer_end] == "42"
    assert judged.answer_start > text.index("</think>")


def test_parsed_gold() -> None:
    assert parsed_gold("number", "1,000") == "1000"
    assert parsed_gold("number + exact", "1,000") == "number: 1000; exact: 1,000"
    with pytest.raises(FormatError, match="0 numbers"):
        parsed_gold("number", "Paris")


def test_a_reward_that_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_this_name\n", encoding="utf-8")
    with (
        RewardPool(f"{broken}:f", workers=1, allow_code=True) as pool,
        pytest.raises(ConfigError, match="ModuleNotFoundError: No module named 'nothing_of"),
    ):
        pool.judge([("x", None)])


def test_a_script_without_a_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            from hara_viz.rewards import RewardPool
            print("once")
            pool = RewardPool("number", workers=1)
            print(pool.judge([("42", "42")])[0].reward)
            # left open on purpose: the end of the script must not hang
            """
        ),
        encoding="utf-8",
    )
    shown = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert shown.stdout == "once\n1.0\n"


def test_workers_do_not_outlive_a_parent_that_was_killed() -> None:
    code = (
        "import time; from hara_viz.rewards import RewardPool; pool = RewardPool('number'); "
        "pool.judge([('1', '1')] * 4); print(*pool.pids(), flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert pids
    deadline = time.monotonic() + 20
    while any(is_running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in pids)


def test_a_hung_worker_ends_itself_when_nobody_kills_it(obedient: str) -> None:
    worker = WorkerProcess(parse_reward(obedient), memory_mb=64)
    overdue = 0.3 - ORPHAN_GRACE
    with pytest.raises(WorkerDiedError, match="exit code 1"):
        worker.ask({"judge": ["hang in C", None, ""], "timeout": overdue}, timeout=30)
    worker.close()


def test_importing_rewards_is_light() -> None:
    code = (
        "import sys, hara_viz.rewards, hara_viz.rewards.worker; "
        "print([m for m in ('torch', 'sympy', 'math_verify') if m in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
