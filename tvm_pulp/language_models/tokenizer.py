"""Text to tokens and back, from a file of the `tokenizers` library.

Byte-pair encodings with a space mark and single punctuation marks are read here; any other file needs the library
itself.
"""

import itertools
import re
import string
from typing import Any, Protocol

from tvm_pulp.codegen.formats import check_record, read_json
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.tokenizer_json import MergingJson
from tvm_pulp.plug_ins import needed


class Tokenizer(Protocol):
    """A tokenizer as generation needs it."""

    def encode(self, text: str) -> list[int]:
        """Tokens, with those that begin every text; a user error where there is none for a character."""

    def decode(self, tokens: list[int]) -> str:
        """Text; tokens that stand for no text are left out."""


def read_tokenizer(data: bytes) -> Tokenizer:
    """The tokenizer of a file."""
    try:
        content: dict[str, Any] = read_json(data)
        kinds = [p["type"] for p in content["pre_tokenizer"].get("pretokenizers", [content["pre_tokenizer"]])]
        simple = (
            content["model"]["type"] == "BPE"
            and kinds in (["Metaspace", "Punctuation"], ["Metaspace"])
            and content["normalizer"] is None
            and not content["model"].get("byte_fallback")
        )
        if simple:
            check_record(MergingJson, content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError("the tokenizer is not a file of the tokenizers library: export it as tokenizer.json") from None
    return MergingTokenizer(content, kinds) if simple else _LibraryTokenizer(data)


class MergingTokenizer:
    """Byte-pair encoding: the earliest merge that applies comes first."""

    def __init__(self, content: dict[str, Any], kinds: list[str]) -> None:
        model = content["model"]
        self._numbers: dict[str, int] = model["vocab"]
        self._pieces = {number: piece for piece, number in self._numbers.items()}
        pairs = (tuple(m) if isinstance(m, list) else tuple(m.split(" ")) for m in model["merges"])
        self._ranks = {pair: rank for rank, pair in enumerate(pairs)}
        self._special = {t["id"] for t in content["added_tokens"] if t["special"]}
        self._marks = "Punctuation" in kinds
        declared = content["pre_tokenizer"].get("pretokenizers", [content["pre_tokenizer"]])
        self._space: str = declared[0]["replacement"]
        self._start = [
            identifier
            for part in (content.get("post_processor") or {}).get("single", [])
            if "SpecialToken" in part
            for identifier in content["post_processor"]["special_tokens"][part["SpecialToken"]["id"]]["ids"]
        ]

    def encode(self, text: str) -> list[int]:
        spaced = self._space + text.replace(" ", self._space)
        space = re.escape(self._space)
        words = re.findall(f"{space}[^{space}]*", spaced)
        if self._marks:
            marks = re.escape(string.punctuation)
            words = [part for word in words for part in re.findall(f"[{marks}]|[^{marks}]+", word)]
        return [*self._start, *(token for word in words for token in self._word(word))]

    def _word(self, word: str) -> list[int]:
        symbols = list(word)
        while len(symbols) > 1:
            ranked = [self._ranks.get(pair, len(self._ranks)) for pair in itertools.pairwise(symbols)]
            best = min(range(len(ranked)), key=ranked.__getitem__)
            if ranked[best] == len(self._ranks):
                break
            symbols[best : best + 2] = [symbols[best] + symbols[best + 1]]
        for symbol in symbols:
            if symbol not in self._numbers:
                raise UserError(f"--prompt: the vocabulary has no token for '{symbol}': write it without")
        return [self._numbers[symbol] for symbol in symbols]

    def decode(self, tokens: list[int]) -> str:
        pieces = (self._pieces.get(token, "") for token in tokens if token not in self._special)
        return "".join(pieces).replace(self._space, " ")


class _LibraryTokenizer:
    def __init__(self, data: bytes) -> None:
        way_out = "pip install tokenizers, or use --prompt-ids"
        tokenizers = needed("tokenizers", f"the archive's tokenizer needs the tokenizers library: {way_out}")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(data.decode())
        except Exception:  # the library's own class
            raise UserError("the tokenizer is none that the tokenizers library can read: export it again") from None

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text).ids)

    def decode(self, tokens: list[int]) -> str:
        return str(self._tokenizer.decode(tokens))
