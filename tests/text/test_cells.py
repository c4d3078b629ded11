"""Display cells against real tokenizers of four kinds, whole characters, halves and garbage."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from hara_viz.errors import ShapeError
from hara_viz.text.cells import Cell, Cells, cell_range, cells_of, cut_cells

END = "<|end|>"
SAMPLES = {
    "ascii": "Let x = 3.14; then 2x = 6.28.\n\nSo the answer is \\boxed{6.28}.",
    "cjk": "设 x 为整数。答案是四十二!漢字かな交じり文。",
    "rtl": "שלום עולם, مرحبا بالعالم 123",
    "emoji": "ok 🙂👍🏽 family 👩‍👩‍👧‍👦 flags 🇫🇷🇩🇪 ❤️",
    "combining": "cafe\u0301 n\u0303 z\u0335\u0321alg\u0310o नमस्ते ไทย ᄒ\u1161\u11ab",
    "odd": "tab\t\r\nnul\x00 nbsp\u00a0 replacement \ufffd end",
}


def byte_level(merges: Sequence[str] = ()) -> Tokenizer:
    """Every byte is a token, plus the given words, plus one special token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {symbol: i for i, symbol in enumerate([*alphabet, *merges])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    return tokenizer


def byte_fallback() -> Tokenizer:
    """SentencePiece style: words with ▁, unknown characters as <0xNN>, a space stripped first."""
    pieces = ["<unk>", *(f"<0x{b:02X}>" for b in range(256)), "▁", *"abcdefghijklmnopqrstuvwxyz"]
    tokenizer = Tokenizer(
        models.BPE(
            vocab={p: i for i, p in enumerate(pieces)},
            merges=[],
            unk_token="<unk>",
            byte_fallback=True,
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens([END])
    return tokenizer


def word_piece() -> Tokenizer:
    words = ["[UNK]", "the", "answer", "is", "##s", "##ing", "four", ".", ","]
    tokenizer = Tokenizer(
        models.WordPiece(vocab={w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    tokenizer.add_special_tokens([END])
    return tokenizer


def word_level() -> Tokenizer:
    """No decoder at all: words joined by spaces."""
    words = ["[UNK]", "the", "answer", "is", "four"]
    tokenizer = Tokenizer(
        models.WordLevel(vocab={w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.add_special_tokens([END])
    return tokenizer


KINDS: dict[str, Tokenizer] = {
    "byte_level": byte_level(["Ġthe", "Ġanswer", "Ġis", "ĠðŁĻ", "Ĥ!"]),  # two of them cut 🙂 wrong
    "byte_fallback": byte_fallback(),
    "word_piece": word_piece(),
    "word_level": word_level(),
}


def decoder_of(tokenizer: Tokenizer) -> Callable[[Sequence[int]], str]:
    return lambda ids: tokenizer.decode(list(ids), skip_special_tokens=False)


def cut(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[Cells, tuple[Cell, ...]]:
    special = {tokenizer.token_to_id(END)}
    cells = cut_cells(ids, decoder_of(tokenizer), special)
    return cells, cells_of(cells.text, cells.cell_start, ids, special)


def texts(cells: Cells, cut_up: Sequence[Cell]) -> list[str]:
    return [cells.text[c.start : c.end] for c in cut_up]


@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_any_ids_give_a_cover_of_text_and_tokens(kind: str, data: st.DataObject) -> None:
    tokenizer = KINDS[kind]
    ids = data.draw(st.lists(st.integers(0, tokenizer.get_vocab_size() - 1), max_size=40))
    cells, cut_up = cut(tokenizer, ids)
    assert cells.text == decoder_of(tokenizer)(ids)
    assert len(cells.cell_start) == len(ids)
    assert list(cells.cell_start) == sorted(cells.cell_start)
    assert "".join(texts(cells, cut_up)) == cells.text
    tokens = [t for c in cut_up for t in range(c.first_token, c.last_token)]
    assert tokens == list(range(len(ids)))
    if cut_up:
        assert cut_up[0].start == 0 and cut_up[-1].end == len(cells.text)


@given(data=st.data())
@pytest.mark.parametrize("kind", ["byte_level", "byte_fallback"])
def test_cells_end_where_a_prefix_of_the_ids_ends(kind: str, data: st.DataObject) -> None:
    """The oracle, in quadratic time: decode(ids up to a cell's last token) is the text so far."""
    tokenizer = KINDS[kind]
    words = data.draw(st.lists(st.sampled_from([*SAMPLES.values(), "the", " is"]), max_size=4))
    text = "".join(words)[: data.draw(st.integers(1, 60))]
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    cells, cut_up = cut(tokenizer, ids)
    for cell in cut_up:
        assert decoder_of(tokenizer)(ids[: cell.last_token]) == cells.text[: cell.end]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("kind", ["byte_level", "byte_fallback"])
def test_no_character_is_lost_or_cut(kind: str, name: str) -> None:
    tokenizer = KINDS[kind]
    ids = tokenizer.encode(SAMPLES[name], add_special_tokens=False).ids
    cells, cut_up = cut(tokenizer, ids)
    assert cells.text == SAMPLES[name]
    shown = texts(cells, cut_up)
    assert all(shown)
    whole = ["é", "👍🏽", "👩‍👩‍👧‍👦", "🇫🇷", "🇩🇪", "❤️", "한", "漢"]
    for character in (c for c in whole if c in SAMPLES[name]):
        assert character in shown, shown


def test_four_byte_tokens_share_the_cell_of_their_character() -> None:
    tokenizer = byte_level()
    ids = tokenizer.encode("a🙂b", add_special_tokens=False).ids
    cells, cut_up = cut(tokenizer, ids)
    assert len(ids) == 6
    assert cells.cell_start == (0, 1, 1, 1, 1, 2)
    assert cut_up[1] == Cell(1, 2, 1, 5, special=False)


@pytest.mark.parametrize("kept", [1, 2, 3])
@pytest.mark.parametrize("kind", ["byte_level", "byte_fallback"])
def test_half_a_character_at_the_end_of_a_truncated_completion(kind: str, kept: int) -> None:
    tokenizer = KINDS[kind]
    whole = tokenizer.encode("so 🙂", add_special_tokens=False).ids
    ids = whole[: len(whole) - 4 + kept]
    cells, cut_up = cut(tokenizer, ids)
    assert cells.text.rstrip("\ufffd") == "so "
    assert "".join(texts(cells, cut_up)) == cells.text
    assert max(cells.cell_start) < len(cells.text)
    before = 2 if kind == "byte_level" else 3  # ▁so begins with a space that is stripped
    assert cells.cell_start[:before] == ((0, 1) if before == 2 else (0, 0, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_a_special_token_is_a_cell_of_its_own(kind: str) -> None:
    tokenizer = KINDS[kind]
    end = tokenizer.token_to_id(END)
    for ids in ([end], [end, end], [3, end, 4], [3, 4, end], [end, 4]):
        _, cut_up = cut(tokenizer, ids)
        special = [c for c in cut_up if c.special]
        assert len(special) == ids.count(end)
        assert all(ids[c.first_token : c.last_token] == [end] for c in special)


def test_half_a_character_before_a_special_token() -> None:
    tokenizer = byte_level()
    half = tokenizer.encode("é", add_special_tokens=False).ids[:1]
    ids = [*half, tokenizer.token_to_id(END)]
    cells, cut_up = cut(tokenizer, ids)
    assert texts(cells, cut_up) == ["\ufffd", END]
    assert [c.special for c in cut_up] == [False, True]


def test_a_combining_mark_does_not_join_a_special_token_or_a_new_line() -> None:
    tokenizer = byte_level()
    mark = tokenizer.encode("\u0301", add_special_tokens=False).ids
    newline = tokenizer.encode("\n", add_special_tokens=False).ids
    _, cut_up = cut(tokenizer, [tokenizer.token_to_id(END), *mark])
    assert [c.special for c in cut_up] == [True, False]
    cells, cut_up = cut(tokenizer, [*newline, *mark])
    assert texts(cells, cut_up) == ["\n", "\u0301"]


def test_a_decoder_that_never_agrees_still_covers_the_text() -> None:
    """Reversed text has no agreeing prefix: one cell, and no quadratic number of decodes."""
    calls: list[int] = []

    def backwards(ids: Sequence[int]) -> str:
        calls.append(len(ids))
        return "".join(chr(i) for i in reversed(ids))

    ids = [0x4E00 + i for i in range(4000)]
    cells = cut_cells(ids, backwards, set())
    assert set(cells.cell_start) == {0}
    assert sum(calls) < 4 * len(ids)


def test_time_is_linear() -> None:
    tokenizer = KINDS["byte_level"]
    decoded: list[int] = []

    def counting(ids: Sequence[int]) -> str:
        decoded.append(len(ids))
        return tokenizer.decode(list(ids), skip_special_tokens=False)

    random_ids = random.Random(0).choices(range(256), k=20_000)  # garbage bytes
    began = time.perf_counter()
    cut_cells(random_ids, counting, set())
    assert time.perf_counter() - began < 10
    assert sum(decoded) < 12 * len(random_ids)


def test_cells_of_refuses_what_does_not_fit() -> None:
    for start in [(0, 2, 1), (1, 2, 3), (0, 1, 9), (0, 1)]:
        with pytest.raises(ShapeError, match="cell_start"):
            cells_of("abc", start, [7, 8, 9], set())
    with pytest.raises(ShapeError, match="no tokens"):
        cells_of("abc", (), (), set())
    assert cells_of("", (), (), set()) == ()


def test_cell_range_finds_the_cells_a_span_touches() -> None:
    cells = cells_of("ab cd", (0, 2, 2, 3), [1, 2, 3, 4], set())
    assert [(c.start, c.end) for c in cells] == [(0, 2), (2, 3), (3, 5)]
    assert cell_range(cells, 1, 4) == (0, 3)
    assert cell_range(cells, 3, 5) == (2, 3)
    assert cell_range(cells, 2, 2) == (1, 2)
