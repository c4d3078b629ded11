"""The pool: worker processes that judge completions within limits of time and memory.

Whatever a verifier does, each completion gets a judgement: a worker that takes too long is killed
and replaced alone, one that dies is replaced, and both are outcomes with a reason of their own
("timed out", "verifier crashed"), never a reward of 0. Works from any thread and from scripts
without a `__main__` guard.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hara_viz.errors import ConfigError, FormatError, InvalidInputError, UnsafeError
from hara_viz.rewards.process import WorkerDiedError, WorkerProcess, WorkerTimeoutError
from hara_viz.rewards.spec import RewardTerm, parse_reward
from hara_viz.rewards.verdict import RewardItem, Verdict

if TYPE_CHECKING:
    from hara_viz.types import Judgement

Judged = tuple[str, str | None] | RewardItem
WINDOW = 8
"""Items under way per worker: enough that none waits, few enough to stream long inputs."""


class RewardPool:
    """Judges completions in worker processes; a context manager that ends them all."""

    def __init__(
        self,
        name: str,
        *,
        workers: int = 2,
        timeout: float = 10.0,
        memory_mb: int = 1024,
        allow_code: bool = False,
    ) -> None:
        """Check the reward's name and limits; workers start when they are first needed.

        Args:
            name: a reward as `hara_viz.rewards.spec` describes, for instance "math + 0.2*format".
            workers: processes, each with its own copy of the verifiers.
            timeout: seconds for one completion, starting the worker not counted.
            memory_mb: MiB for judging, beyond the loaded libraries (Linux; no limit elsewhere).
            allow_code: let the name be a function in a Python file. For command lines only.

        Raises:
            ConfigError: the name is unknown or a limit is out of its range.
            UnsafeError: the name is a file and `allow_code` is off.
        """
        self.terms = parse_reward(name)
        for field, value, least in (
            ("workers", workers, 1), ("timeout", timeout, 0.01), ("memory_mb", memory_mb, 16)
        ):  # fmt: skip
            if not least <= value < float("inf"):
                raise ConfigError(f"{field} is {value}; it must be at least {least}")
        if not allow_code and any(term.is_code for term in self.terms):
            raise UnsafeError(
                f"the reward {name!r} runs code of a file; name it on the command line (--reward)"
            )
        self.timeout = timeout
        self.memory_mb = memory_mb
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="reward")
        self._window = WINDOW * workers
        self._idle: SimpleQueue[WorkerProcess | None] = SimpleQueue()  # None: not started
        for _ in range(workers):
            self._idle.put(None)
        self._lock = threading.Lock()
        self._alive: set[WorkerProcess] = set()
        self._closed = False

    def judge(self, items: Iterable[Judged]) -> list[Judgement]:
        """Judgements of all items, in their order.

        Args:
            items: (text seen by the verifier, gold answer), or `RewardItem`s.

        Raises:
            ConfigError: a reward cannot be loaded.
        """
        return list(self.stream(items))

    def stream(self, items: Iterable[Judged]) -> Generator[Judgement, None, None]:
        """Judgements in the items' order, each as soon as it and those before it are there."""
        under_way: deque[Future[list[Verdict]]] = deque()
        try:
            for item in items:
                self._check_open()
                under_way.append(self._threads.submit(self._verdicts, _as_item(item)))
                if len(under_way) >= self._window:
                    yield combine(self.terms, under_way.popleft().result())
            while under_way:
                yield combine(self.terms, under_way.popleft().result())
        finally:
            for future in under_way:
                future.cancel()

    def parsed_gold(self, gold: str) -> str:
        """What the verifiers understand of a gold answer, for people to check.

        Raises:
            FormatError: it cannot be read, or reading it takes too long.
        """
        self._check_open()
        try:
            reply = self._threads.submit(self._ask, {"gold": gold}).result()
        except (WorkerTimeoutError, WorkerDiedError) as error:
            raise FormatError(
                f"gold answer {gold[:80]!r} cannot be read: {error}; simplify it"
            ) from error
        if "error" in reply:
            raise FormatError(reply["error"])
        golds: Mapping[str, str] = reply["golds"]
        if len(set(golds.values())) == 1:
            return next(iter(golds.values()))
        return "; ".join(f"{label}: {text}" for label, text in golds.items())

    def pids(self) -> tuple[int, ...]:
        """Process ids of the running workers."""
        with self._lock:
            return tuple(worker.pid for worker in self._alive)

    def close(self) -> None:
        """End all workers at once, also those that are judging. Idempotent."""
        with self._lock:
            self._closed = True
            alive = tuple(self._alive)
        for worker in alive:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            for worker in self._alive:
                worker.close()
            self._alive.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidInputError("the reward pool is closed; open another")

    def _verdicts(self, item: RewardItem) -> list[Verdict]:
        try:
            reply = self._ask({"judge": item, "timeout": self.timeout})
        except WorkerTimeoutError:
            return self._all_unscored(f"timed out after {self.timeout:g} s")
        except WorkerDiedError as error:
            self._check_open()  # closing kills workers; that is no verdict
            return self._all_unscored(f"verifier crashed: {error}")
        if "memory" in reply:
            return self._all_unscored(f"verifier ran out of memory ({self.memory_mb} MiB)")
        return [Verdict.from_json(fields) for fields in reply["verdicts"]]

    def _all_unscored(self, reason: str) -> list[Verdict]:
        return [Verdict(value=None, reason=reason) for _ in self.terms]

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        worker = self._idle.get()
        try:
            if worker is None or worker.worn:
                worker = self._replace(worker)
            return worker.ask(request, self.timeout)
        finally:
            self._idle.put(worker)

    def _replace(self, worn: WorkerProcess | None) -> WorkerProcess:
        if worn is not None:
            with self._lock:
                self._alive.discard(worn)
            worn.close()
        self._check_open()
        fresh = WorkerProcess(self.terms, memory_mb=self.memory_mb)
        with self._lock:
            self._alive.add(fresh)
            closed = self._closed
        if closed:  # closed while it started
            fresh.kill()
        return fresh


def _as_item(item: Judged) -> RewardItem:
    return item if isinstance(item, RewardItem) else RewardItem(item[0], item[1])


def combine(terms: Sequence[RewardTerm], verdicts: Sequence[Verdict]) -> Judgement:
    """The weighted sum; None if a term that weighs anything is unscored.

    Answer and span are the first term's that has them.
    """
    from hara_viz.types import Judgement

    parts: dict[str, float | None] = {}
    total: float | None = 0.0
    for term, verdict in zip(terms, verdicts, strict=True):
        parts.update(verdict.parts)
        parts[term.label] = verdict.value
        if term.weight != 0 and total is not None:
            total = None if verdict.value is None else total + term.weight * verdict.value
    answered = next((v for v in verdicts if v.answer is not None), verdicts[0])
    start, end = answered.span or (None, None)
    return Judgement(
        reward=total,
        parts=parts,
        extracted_answer=answered.answer,
        answer_start=start,
        answer_end=end,
        reason=_reason(terms, verdicts),
    )


def _reason(terms: Sequence[RewardTerm], verdicts: Sequence[Verdict]) -> str:
    reasons = dict.fromkeys(verdict.reason for verdict in verdicts)
    if len(reasons) == 1:
        return verdicts[0].reason
    pairs = zip(terms, verdicts, strict=True)
    return "; ".join(f"{term.label}: {verdict.reason}" for term, verdict in pairs)


def parsed_gold(name: str, gold: str, *, allow_code: bool = False) -> str:
    """What the verifier of a reward understands of one gold answer.

    For many answers open a `RewardPool` and use its method: a worker takes a second to start.

    Raises:
        FormatError: the answer cannot be read.
    """
    with RewardPool(name, workers=1, allow_code=allow_code) as pool:
        return pool.parsed_gold(gold)
