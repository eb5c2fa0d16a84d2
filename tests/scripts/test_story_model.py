"""The story corpus: the same seed gives the same stories, held-out text shares no run of eight words with training."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tvm_pulp.language_models.tokenizer import read_tokenizer

FOLDER = Path(__file__).resolve().parents[2] / "scripts" / "story_model"


@pytest.fixture(scope="module")
def corpus() -> Iterator[Any]:
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("corpus")
    sys.path.remove(str(FOLDER))


def test_the_same_seed_gives_the_same_stories(corpus: Any) -> None:
    assert corpus.training(0, 5) == corpus.training(0, 5)
    assert corpus.training(0, 5) != corpus.training(1, 5) != corpus.training(1, 5, part=1)


def test_held_out_stories_share_no_run_of_eight_words(corpus: Any) -> None:
    held = [corpus.words_of(story) for story in corpus.held_out(0)]
    forbidden = {tuple(words[i : i + 8]) for words in held for i in range(len(words) - 7)}
    assert sum(map(len, held)) > 2000
    for story in corpus.training(0, 300):
        words = corpus.words_of(story)
        assert not any(tuple(words[i : i + 8]) in forbidden for i in range(len(words) - 7)), story


def test_both_encoders_agree(corpus: Any) -> None:
    tokenizer = importlib.import_module("tokenizer")
    content = tokenizer.train(corpus.training(0, 200), 160)
    ours = read_tokenizer(json.dumps(content).encode())
    encoder = tokenizer.Encoder(content)
    for story in corpus.held_out(0)[:5]:
        assert encoder.encode(story) == ours.encode(story)
        assert ours.decode(ours.encode(story)) == f" {story}"
