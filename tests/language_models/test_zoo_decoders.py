"""The zoo's language models on the simulator equal the independent implementation."""

import numpy as np
import pytest

import tvm_pulp
from tests.language_models.llama_in_numpy import Llama
from tvm_pulp.frontend.zoo import decoders
from tvm_pulp.frontend.zoo.weights import load_weights, save_weights
from tvm_pulp.language_models.session import GenerationRequest


@pytest.mark.slow
@pytest.mark.parametrize("name", list(decoders.MODELS))
def test_prefill_and_decode_equal_numpy(name: str) -> None:
    app = tvm_pulp.compile(f"zoo:{name}", target="uma-neureka", capacity=80)
    text = np.random.default_rng(1).integers(2, 512, 70).tolist()
    model = Llama(decoders.build_decoder(name))
    expected = np.array([model.see(token) for token in text])
    # One chunk and a bit, then one token at a time; and everything at once.
    for prompt in (37, 70):
        rest = text[prompt:]
        made = app.generator().generate(GenerationRequest(text[:prompt], len(rest) + 1, forced=rest, keep_logits=True))
        np.testing.assert_array_equal(made.logits, expected)


@pytest.mark.slow
def test_a_thousand_tokens_a_second() -> None:
    """At 360 MHz, behind 128 tokens; and a prompt of 64."""
    generator = tvm_pulp.compile(f"zoo:{decoders.STORIES}", target="uma-neureka").generator()
    assert generator.generate(GenerationRequest([1] * 128, 2)).step_cycles[0] <= 360_000
    assert generator.generate(GenerationRequest([1] * 64, 1)).prefill_cycles <= 4_000_000


def test_the_story_model_continues_a_story() -> None:
    # Greedy, in numpy: the first words after the prompt make sense.
    tokens = decoders.tokenizer_file(decoders.STORIES)
    assert tokens is not None
    from tvm_pulp.language_models.tokenizer import read_tokenizer

    tokenizer, model = read_tokenizer(tokens), Llama(decoders.build_decoder(decoders.STORIES))
    prompt = tokenizer.encode("Once there was a shy")
    logits = [model.see(token) for token in prompt][-1]
    made = []
    for _ in range(8):
        made.append(int(logits.argmax()))
        logits = model.see(made[-1])
    assert " named " in tokenizer.decode(made)


def test_weights_survive_their_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    weights = decoders.build_decoder("llama_0.5m")
    save_weights(tmp_path / "a.npz", weights)
    save_weights(tmp_path / "b.npz", load_weights(tmp_path / "a.npz"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
