"""Tokenizers with their vocabularies, in an archive of a language model."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.draws import Random, edit_bytes
from tests.fuzz.formats.format import Format, Trial
from tests.fuzz.records import edit_json
from tests.language_models.small_decoders import compiled
from tvm_pulp.codegen import mlf

_PIECES = ["<s>", "</s>", "_", *"abcdefghij", "ab", "_a", "_ab", "cd", ".", "_c", "de", "_de", "!", "ba"]
_MERGES = ["a b", "_ a", "_ ab", "c d", "_ c", "d e", "_ de", "b a"]


def _file() -> bytes:
    space = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}
    start = {"id": "<s>", "ids": [0], "tokens": ["<s>"]}
    record = {
        "added_tokens": [{"id": place, "content": _PIECES[place], "special": True} for place in (0, 1)],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [space, {"type": "Punctuation"}]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {"<s>": start},
        },
        "model": {"type": "BPE", "vocab": {piece: n for n, piece in enumerate(_PIECES)}, "merges": _MERGES},
    }
    return json.dumps(record).encode()


def seeds(folder: Path) -> Sequence[Path]:
    """A vocabulary of 23 pieces; the archive of a decoder lies beside it."""
    compiled("shared_heads", "c").save(folder / "decoder.tar")
    (folder / "tokenizer.json").write_bytes(_file())
    return [folder / "tokenizer.json"]


def edit(rng: Random, content: bytes) -> bytes:
    """Change an entry, or bytes."""
    if rng.random() < 0.15:
        return edit_bytes(rng, content)
    return edit_json(rng, content)


def command(rng: Random, trial: Trial) -> list[str]:
    """Continue a prompt of text by one token."""
    archive = trial.mutant.with_suffix(".tar")
    files = mlf.read(trial.seed.parent / "decoder.tar")
    mlf.write(archive, {**files, "tokenizer.json": trial.mutant.read_bytes()})
    return ["generate", str(archive), "--prompt", "ab a.", "--tokens", "1"]


FORMAT = Format("tokenizer", seeds, edit, command)
