"""Text to tokens and back; the file is one of the `tokenizers` library."""

import json

import pytest

from tvm_pulp.errors import UserError
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.language_models.tokenizer import read_tokenizer

FILE = decoders.tokenizer_file(decoders.STORIES)
TEXTS = ["Once there was a shy fox.", '"Why?" asked Lily. It is Tom\'s hat!', "Xyz q", "a  b"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_survives(text: str) -> None:
    assert FILE is not None
    tokenizer = read_tokenizer(FILE)
    tokens = tokenizer.encode(text)
    # Every text begins with the start token, which stands for no text.
    assert tokens[0] == 1
    assert tokenizer.decode(tokens) == f" {text}"


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_the_library(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the library is an extra")
    assert FILE is not None
    assert read_tokenizer(FILE).encode(text) == tokenizers.Tokenizer.from_str(FILE.decode()).encode(text).ids


def test_common_words_are_one_token() -> None:
    assert FILE is not None
    assert len(read_tokenizer(FILE).encode("a shy cat named Lily")) == 6


def test_a_character_without_token_is_a_users_error() -> None:
    assert FILE is not None
    with pytest.raises(UserError, match="the vocabulary has no token for 'ß'"):
        read_tokenizer(FILE).encode("Spaß")


@pytest.mark.parametrize("data", [b"no json", b"{}", json.dumps({"model": 1}).encode()])
def test_another_file_is_a_users_error(data: bytes) -> None:
    with pytest.raises(UserError, match="not a file of the tokenizers library"):
        read_tokenizer(data)


def test_a_file_of_nothing_but_brackets_is_a_users_error() -> None:
    with pytest.raises(UserError, match=r"export it as tokenizer\.json"):
        read_tokenizer(b"[" * 100_000)
