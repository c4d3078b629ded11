"""The engine of `sample`: keeps a batch full, draws a token for each row, survives full memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from hara_viz.errors import ModelError
from hara_viz.models.batch import DecodeBatch
from hara_viz.models.cuts import shape_logits
from hara_viz.models.head import entropy_of
from hara_viz.models.memory import default_rows, is_out_of_memory, release
from hara_viz.models.noise import gumbel_noise, position_words, stream_key, token_codes
from hara_viz.models.policy import Policy
from hara_viz.models.requests import Completion, SampleRequest
from hara_viz.types import Finish, SamplingConfig

PREFILL_TOKENS = 8192
"""The most prompt tokens that are read in one pass: bounds the memory of joining rows."""


@dataclass(eq=False, slots=True)
class Row:
    """A rollout in flight. Its ids are its whole state: a lost cache is rebuilt from them."""

    request: SampleRequest
    key: int
    limit: int
    """The most tokens it may draw; 0 if the prompt leaves no room."""
    wanted: bool = True
    """False: drawn only to keep the shape of a deterministic batch."""
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    entropy: list[float] = field(default_factory=list)
    finish: Finish | None = None
    error: str | None = None
    states: list[list[Tensor]] | None = None
    """Per token read, one [D] per layer; None: not kept, or lost with a cache."""

    @property
    def sequence(self) -> tuple[int, ...]:
        return (*self.request.prompt.ids, *self.ids)

    def completion(self) -> Completion:
        assert self.finish is not None
        return Completion(
            request=self.request,
            ids=tuple(self.ids),
            logprobs=tuple(self.logprobs),
            entropy=tuple(self.entropy),
            finish=self.finish,
            error=self.error,
            states=self._stacked_states(),
        )

    def _stacked_states(self) -> tuple[Tensor, ...] | None:
        """One [T, D] per layer."""
        if not self.states or len(self.states) < len(self.ids):
            return None
        return tuple(torch.stack(layer).cpu() for layer in zip(*self.states, strict=True))


class Sampler:
    """Rows wait in `queue`, are drawn in `rows`, and leave finished through `advance`."""

    def __init__(
        self,
        policy: Policy,
        sampling: SamplingConfig,
        groups: Iterable[list[SampleRequest]],
        max_rows: int | None,
        layers: Sequence[int] = (),
    ) -> None:
        self.policy = policy
        self.layers = layers
        self.sampling = sampling
        self.n_drawn = 0
        self.batch = self._new_batch()
        # Rows that cannot move, or in deterministic mode must not, stay until all have finished.
        self.locked = sampling.deterministic or not self.batch.movable
        self.rows: list[Row] = []
        self.finished: list[Row] = []
        self.codes: Tensor | None = None
        self.tokens = torch.zeros(0, dtype=torch.long, device=policy.device)
        """[B]: drawn last, not yet read by the model."""
        by_length = sorted(groups, key=lambda group: -len(group[0].prompt.ids))
        self.queue = deque(row for group in by_length for row in self._rows_of(group))
        longest = max((len(r.request.prompt.ids) + r.limit for r in self.queue), default=0)
        self.capacity = max_rows or default_rows(policy, longest)

    @property
    def busy(self) -> bool:
        """Whether `advance` has more to do."""
        return bool(self.queue or self.rows or self.finished)

    @torch.inference_mode()
    def advance(self) -> list[Completion]:
        """Let rows join, draw one token for each row, and hand over those that finished."""
        joining: list[Row] = []
        try:
            joining = self._next_rows()
            self._join(joining)
            if self.rows:
                self._draw()
                self._go_on()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            waiting = [r for r in joining if r.finish is None and r not in self.rows]
            self._shrink([*self.rows, *waiting], error)
        finished, self.finished = self.finished, []
        return [row.completion() for row in finished if row.wanted]

    # Rows join ------------------------------------------------------------------------------

    def _rows_of(self, group: list[SampleRequest]) -> list[Row]:
        """Rows of a group; in deterministic mode with those of its samples not asked for."""
        if not self.sampling.deterministic:
            return [self._row(request) for request in group]
        asked = {request.sample: request for request in group}
        first, n_samples = group[0], max(self.sampling.group_size, max(asked) + 1)
        return [
            self._row(asked[s], wanted=True)
            if s in asked
            else self._row(
                SampleRequest(first.problem_id, first.group, s, first.prompt), wanted=False
            )
            for s in range(n_samples)
        ]

    def _row(self, request: SampleRequest, *, wanted: bool = True) -> Row:
        key = stream_key(self.sampling.seed, request.problem_id, request.group, request.sample)
        limit, room = self.sampling.max_new_tokens, self.policy.max_positions
        if room is not None:
            limit = max(0, min(limit, room - len(request.prompt.ids)))
        states: list[list[Tensor]] | None = [] if self.layers else None
        return Row(request=request, key=key, limit=limit, wanted=wanted, states=states)

    def _next_rows(self) -> list[Row]:
        """Rows that join now: a few at a time, as reading their prompts holds up the others."""
        room = self.capacity - len(self.rows)
        wait = self.locked or (room < max(1, self.capacity // 4) and len(self.queue) > room)
        if self.rows and wait:
            return []
        taken: list[Row] = []
        while self.queue and (len(taken) < room or self.sampling.deterministic):
            if self.sampling.deterministic and taken:
                this, last = self.queue[0].request, taken[-1].request
                if (this.problem_id, this.group) != (last.problem_id, last.group):
                    break
            row = self.queue.popleft()
            if row.limit > 0:
                taken.append(row)
            else:
                self._refuse(row)
        return taken

    def _refuse(self, row: Row) -> None:
        row.finish = Finish.ABORT
        row.error = (
            f"the prompt has {len(row.request.prompt.ids)} tokens, and the model reads "
            f"{self.policy.max_positions} at most: no room for an answer"
        )
        self.finished.append(row)

    def _join(self, joining: list[Row]) -> None:
        """Read the new rows' tokens, in passes of a bounded size."""
        while joining:
            n_rows = len(joining)
            if not self.locked:
                distinct: set[tuple[int, ...]] = set()
                for n_rows, row in enumerate(joining):
                    distinct.add(row.sequence)
                    if n_rows and len(distinct) * max(map(len, distinct)) > PREFILL_TOKENS:
                        break
                else:
                    n_rows = len(joining)
            self.batch.join([row.sequence for row in joining[:n_rows]])
            self.rows += joining[:n_rows]
            joining = joining[n_rows:]

    # Rows grow ------------------------------------------------------------------------------

    def _draw(self) -> None:
        """Pick one token for each row and note its log-probability and the entropy."""
        logits, sampling = self.batch.logits, self.sampling
        logprobs = logits.log_softmax(-1)
        entropy = entropy_of(logprobs)
        scores = shape_logits(logits, sampling, self.batch.seen if self.batch.track_seen else None)
        if sampling.temperature > 0:
            if self.codes is None:
                self.codes = token_codes(logits.shape[1], logits.device)
            words = [position_words(row.key, len(row.ids)) for row in self.rows]
            scores = scores + gumbel_noise(self.codes, words)
        self.tokens = scores.argmax(-1)
        chosen = logprobs.gather(-1, self.tokens[:, None])[:, 0]
        # One copy from the device; float32 holds every token id below 2**24.
        drawn = torch.stack([self.tokens.float(), chosen, entropy], dim=1).tolist()
        for row, (token, logprob, row_entropy) in zip(self.rows, drawn, strict=True):
            if row.finish is None:
                self._grow(row, int(token), logprob, row_entropy)

    def _grow(self, row: Row, token: int, logprob: float, entropy: float) -> None:
        if logprob != logprob:
            raise ModelError(
                f"the model gives NaN at token {len(row.ids)} of problem "
                f"{row.request.problem_id}; load it with dtype float32, or check its weights"
            )
        row.ids.append(token)
        row.logprobs.append(logprob)
        row.entropy.append(entropy)
        self.n_drawn += row.wanted
        if token in self.policy.eos_ids or self._at_stop_string(row):
            row.finish = Finish.STOP
        elif len(row.ids) >= row.limit:
            row.finish = Finish.LENGTH

    def _at_stop_string(self, row: Row) -> bool:
        stops = self.sampling.stop
        if not stops:
            return False
        # A stop string ends in the newest token, or it would have been seen before. Tokens may
        # hold one byte each, so its bytes bound how far back it can reach.
        reach = max(len(stop.encode()) for stop in stops) + 8
        tail = self.policy.decode(row.ids[-reach:])
        return any(stop in tail for stop in stops)

    def _go_on(self) -> None:
        """Drop finished rows and let the model read the tokens of the others.

        Where states are kept, the finished read their last token too before they go.
        """
        if self.layers:
            self._read_tokens()
        self._drop_finished()
        if self.rows and not self.layers:
            self._read_tokens()

    def _read_tokens(self) -> None:
        self.batch.step(self.tokens)
        for b, row in enumerate(self.rows):
            if row.states is not None and len(row.states) < len(row.ids):
                row.states.append([layer[b] for layer in self.batch.states])

    def _drop_finished(self) -> None:
        if self.locked and any(row.finish is None and row.wanted for row in self.rows):
            return
        stay = [] if self.locked else [i for i, r in enumerate(self.rows) if r.finish is None]
        if len(stay) == len(self.rows):
            return
        self.finished += self.rows if self.locked else [r for r in self.rows if r.finish]
        self.rows = [self.rows[i] for i in stay]
        if stay:
            self.batch.keep(stay)
            self.tokens = self.tokens[stay]
        else:
            self.batch = self._new_batch()

    # Memory runs out ------------------------------------------------------------------------

    def _new_batch(self) -> DecodeBatch:
        return DecodeBatch(
            self.policy,
            track_seen=self.sampling.repetition_penalty != 1.0,
            layers=self.layers,
        )

    def _shrink(self, attempted: list[Row], error: BaseException) -> None:
        """Put the rows back, with what they have drawn, and go on with half as many."""
        if len(attempted) <= 1 or self.sampling.deterministic:
            longest = max((len(row.sequence) for row in attempted), default=0)
            what = "even one rollout"
            if self.sampling.deterministic:
                what = "a whole group, which deterministic mode keeps together,"
            raise ModelError(
                f"memory ran out on {self.policy.device} with {what} of {longest} tokens "
                "in flight; use a smaller dtype, fewer new tokens, or another device"
            ) from error
        self.batch, self.rows = self._new_batch(), []
        for row in attempted:
            if row.ids:  # they will be read again, all at once
                row.states = None
        self.queue.extendleft(reversed([row for row in attempted if row.finish is None]))
        self.finished += [row for row in attempted if row.finish is not None]
        self.capacity = max(1, len(attempted) // 2)
        release(self.policy.device, error)
