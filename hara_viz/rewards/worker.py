"""The worker process: loads rewards, then answers one request a line until its input ends.

Requests and replies are JSON lines on stdin and stdout, so nothing is unpickled and model text of
any kind passes. What the verifiers print goes to stderr. The parent enforces the time limit by
killing; should the parent itself be gone, a watchdog thread in C ends a hung worker.

    {"judge": [text, gold, prompt], "timeout": 10.0}  ->  {"verdicts": [...]} | {"memory": true}
    {"gold": gold}                                    ->  {"golds": {label: text}} | {"error": ...}
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, BinaryIO

from hara_viz.errors import HaraError, InvalidInputError
from hara_viz.rewards.registry import load_reward
from hara_viz.rewards.spec import RewardTerm
from hara_viz.rewards.verdict import Reward, RewardItem, Verdict

ORPHAN_GRACE = 30.0
"""Seconds past the time limit after which a worker ends itself."""


def main() -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    requests, replies = sys.stdin.buffer, _private_stdout()
    config = json.loads(requests.readline())
    terms = [RewardTerm(*term) for term in config["terms"]]
    try:
        rewards = {term.label: load_reward(term) for term in terms}
    except HaraError as error:
        _send(replies, {"failed": str(error)})
        return
    ceiling = limit_memory(config["memory_mb"])
    _send(replies, {"ready": True})
    for line in requests:
        _send(replies, {**_answer(json.loads(line), rewards), "worn": _is_worn(ceiling)})


def limit_memory(memory_mb: int) -> tuple[int, int] | None:
    """Allow this process so much address space beyond what it has now.

    Counted from after the imports, so the limit means what judging may use, however large the
    libraries are. Linux only; elsewhere there is no limit (None).

    Returns:
        (size now, size allowed) in bytes.
    """
    size = _address_space()
    if size is None:
        return None
    import resource

    allowed = size + memory_mb * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return size, allowed


def _address_space() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _is_worn(ceiling: tuple[int, int] | None) -> bool:
    """Caches of a symbolic library grow; a worker past half its allowance is replaced."""
    size = _address_space()
    return ceiling is not None and size is not None and size > sum(ceiling) // 2


def _private_stdout() -> BinaryIO:
    """The pipe to the parent; whatever else writes to stdout goes to stderr from now on."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _send(replies: BinaryIO, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message).encode("ascii") + b"\n")
    replies.flush()


def _answer(request: dict[str, Any], rewards: dict[str, Reward]) -> dict[str, Any]:
    if "gold" in request:
        return _golds(request["gold"], rewards)
    faulthandler.dump_traceback_later(request["timeout"] + ORPHAN_GRACE, exit=True)
    try:
        item = RewardItem(*request["judge"])
        verdicts = [_judge(reward, item).to_json() for reward in rewards.values()]
    except MemoryError:
        return {"memory": True}
    finally:
        faulthandler.cancel_dump_traceback_later()
    return {"verdicts": verdicts}


def _judge(reward: Reward, item: RewardItem) -> Verdict:
    try:
        return reward.judge(item)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # a verifier's failure is an outcome, not a crash
        shown = f"{type(error).__name__}: {error}"[:200]
        return Verdict(value=None, reason=f"unscored: the verifier failed ({shown})")


def _golds(gold: str, rewards: dict[str, Reward]) -> dict[str, Any]:
    try:
        return {"golds": {label: reward.read_gold(gold) for label, reward in rewards.items()}}
    except InvalidInputError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": f"gold answer {gold[:80]!r} takes more memory than allowed"}
