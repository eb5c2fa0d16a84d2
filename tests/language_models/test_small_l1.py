"""Decoders with little L1: heads one after the other, and a prompt token by token where L1 has no room for a chunk."""

import numpy as np
import pytest

from tests.language_models.llama_in_numpy import Llama
from tests.language_models.small_decoders import compiled_llama
from tvm_pulp.api import CompileOptions
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.frontend.zoo.weights import DecoderShape
from tvm_pulp.language_models.session import GenerationRequest

CHUNK, TOKENS = 4, 9
NARROW = DecoderShape(width=16, layers=1, heads=4, kv_heads=2, hidden=24, vocabulary=24)
BROAD = DecoderShape(width=64, layers=1, heads=2, kv_heads=2, hidden=72, vocabulary=24)


@pytest.mark.parametrize(
    ("shape", "capacity", "l1", "entries"),
    [
        (BROAD, 300, 16, {"decode"}),
        pytest.param(NARROW, 500, 12, {"decode", "prefill"}, marks=pytest.mark.slow),
        pytest.param(NARROW, 700, 24, {"decode", "prefill"}, marks=pytest.mark.slow),
        pytest.param(BROAD, 180, 16, {"decode", "prefill"}, marks=pytest.mark.slow),
    ],
)
def test_tokens_are_those_of_any_l1(shape: DecoderShape, capacity: int, l1: int, entries: set[str]) -> None:
    weights = decoders.random_decoder_of(shape, "small", 0)
    options = CompileOptions(target="c", soc="siracusa", l1=1024 * l1, state_memory="l2")
    app = compiled_llama("small", weights, (capacity, CHUNK), options)
    assert {name.split("/")[0] for name in app.files if name.endswith("/plan.json")} == entries
    text, model = np.random.default_rng(0).integers(0, shape.vocabulary, TOKENS).tolist(), Llama(weights)
    expected = np.array([model.see(token) for token in text])
    prompt = CHUNK + 1
    request = GenerationRequest(text[:prompt], TOKENS - prompt + 1, forced=text[prompt:], keep_logits=True)
    np.testing.assert_array_equal(app.generator().generate(request).logits, expected)
