"""Byte-pair encoding of the stories, written as a `tokenizers` file.

Words carry a leading "▁" for the space in front of them, marks stand alone, and every story begins with <s>.
"""

import itertools
import re
import string
from collections import Counter
from collections.abc import Iterable
from typing import Any

UNKNOWN, START = "<unk>", "<s>"
SPACE = "▁"
ALPHABET = [SPACE, *string.ascii_lowercase, *string.ascii_uppercase, *".,!?\"'-:;"]
_MARKS = re.escape(string.punctuation)


def split(text: str) -> list[str]:
    """Pieces that merges never cross: words with their space, and single marks."""
    spaced = SPACE + text.replace(" ", SPACE)
    return [p for w in re.findall(f"{SPACE}[^{SPACE}]*", spaced) for p in re.findall(f"[{_MARKS}]|[^{_MARKS}]+", w)]


def _merge(symbols: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    out: list[str] = []
    for symbol in symbols:
        if out and (out[-1], symbol) == pair:
            out[-1] += symbol
        else:
            out.append(symbol)
    return tuple(out)


def train(texts: Iterable[str], pieces: int) -> dict[str, Any]:
    """The content of a `tokenizers` file with `pieces` entries."""
    words = Counter(word for text in texts for word in split(text))
    spelled = {word: tuple(word) for word in words}
    vocabulary = [UNKNOWN, START, *ALPHABET]
    merges: list[list[str]] = []
    while len(vocabulary) < pieces:
        pairs: Counter[tuple[str, str]] = Counter()
        for word, symbols in spelled.items():
            for pair in itertools.pairwise(symbols):
                pairs[pair] += words[word]
        # Ties go to the alphabetically first pair: the same stories give the same file.
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(list(best))
        if best[0] + best[1] not in vocabulary:
            vocabulary.append(best[0] + best[1])
        spelled = {word: _merge(symbols, best) for word, symbols in spelled.items()}
    return _file(vocabulary, merges)


def _file(vocabulary: list[str], merges: list[list[str]]) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    space = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}
    start = {"id": START, "ids": [1], "tokens": [START]}
    template = [{"SpecialToken": {"id": START, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": c, **flags} for i, c in enumerate((UNKNOWN, START))],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [space, {"type": "Punctuation", "behavior": "Isolated"}],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": template,
            "pair": [*template, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {START: start},
        },
        "decoder": space,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": UNKNOWN,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {piece: index for index, piece in enumerate(vocabulary)},
            "merges": merges,
        },
    }


class Encoder:
    """Text to piece numbers; remembers words, because stories repeat them."""

    def __init__(self, content: dict[str, Any]) -> None:
        self._numbers: dict[str, int] = content["model"]["vocab"]
        self._merges = [tuple(pair) for pair in content["model"]["merges"]]
        self._known: dict[str, list[int]] = {}

    def _word(self, word: str) -> list[int]:
        if word not in self._known:
            symbols = tuple(word)
            for pair in self._merges:
                symbols = _merge(symbols, pair)
            self._known[word] = [self._numbers.get(s, 0) for s in symbols]
        return self._known[word]

    def encode(self, text: str) -> list[int]:
        return [1, *(number for word in split(text) for number in self._word(word))]
