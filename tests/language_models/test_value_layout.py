"""Values of a cache with four positions of an element in a word: where they are, and that nothing else changes."""

import numpy as np
import pytest

from tests.language_models.llama_in_numpy import Llama
from tests.language_models.small_decoders import CAPACITY, compiled, compiled_llama, weights
from tvm_pulp.api import App, CompileOptions
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.frontend.zoo.weights import DecoderShape, DecoderWeights
from tvm_pulp.language_models.session import GenerationRequest


def in_l2(model: DecoderWeights, capacity: int, chunk: int, target: str = "uma-neureka") -> App:
    options = CompileOptions(target=target, soc="siracusa", state_memory="l2")
    return compiled_llama("small", model, (capacity, chunk), options)


def source_of(app: App) -> str:
    return app.files["codegen/host/src/small_decoder.c"].decode()


def check(app: App, model: DecoderWeights, prompts: list[int], count: int, seed: int) -> None:
    """Logits of a text, its first tokens seen at once, are those of the independent implementation."""
    text = np.random.default_rng(seed).integers(0, model.shape.vocabulary, count).tolist()
    known = Llama(model)
    expected = np.array([known.see(token) for token in text])
    for prompt in prompts:
        rest = text[prompt:]
        request = GenerationRequest(text[:prompt], len(rest) + 1, forced=rest, keep_logits=True)
        np.testing.assert_array_equal(app.generator().generate(request).logits, expected, err_msg=f"prompt {prompt}")


@pytest.mark.slow
def test_words_hold_four_tokens_where_the_dma_writes_bytes() -> None:
    app = in_l2(weights("odd"), CAPACITY, 5)
    assert "or 4 tokens of an element in a word" in source_of(app)
    assert any(b"DMA_STORE_LINES_OF(" in text for text in app.files.values())
    # Chunks of five begin at every place of a word, and the cache ends inside of one.
    check(app, weights("odd"), [17], CAPACITY, 1)


@pytest.mark.slow
def test_a_cache_in_l1_has_rows() -> None:
    assert "in a word" not in source_of(compiled("odd", "uma-neureka", "l1"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_decoders(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    kv_heads, group = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    size = int(rng.choice([4, 8, 12, 16, 32, 64]))
    width = kv_heads * group * size
    shape = DecoderShape(width, int(rng.integers(1, 3)), kv_heads * group, kv_heads, int(rng.integers(3, 30)) * 4, 19)
    capacity, chunk = int(rng.integers(9, 70)), int(rng.integers(2, 12))
    model = decoders.random_decoder_of(shape, "random", seed)
    app = in_l2(model, capacity, chunk, ["uma-neureka", "c"][seed % 2])
    assert "in a word" in source_of(app)
    check(app, model, [1, chunk + 1, capacity], capacity, seed)


def test_a_new_row_of_values_is_found_where_it_was_put() -> None:
    """A plan that keeps nothing in L1 takes it from L2, where every byte of it lies in another word."""
    options = CompileOptions(target="c", soc="siracusa", planner="greedy", state_memory="l2")
    app, model = compiled_llama("small", weights("odd"), (CAPACITY, 5), options), weights("odd")
    assert "in a word" in source_of(app)
    assert any(b"DMA_LOAD_LINES_OF(" in text for text in app.files.values())
    check(app, model, [6], 9, 0)
