"""Chunks of a prompt and single tokens give what an independent implementation gives, bit for bit."""

import io
import json

import numpy as np
import pytest

from tests.language_models.llama_in_numpy import Llama
from tests.language_models.small_decoders import CAPACITY, CHUNK, compiled, compiled_llama, weights
from tvm_pulp.api import CompileOptions
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.session import GenerationRequest, Sampling

CASES = [
    ("shared_heads", "c"),
    ("odd", "uma-neureka"),
    pytest.param("shared_heads", "uma-neureka", marks=pytest.mark.slow),
    pytest.param("wide", "uma-neureka", marks=pytest.mark.slow),
]


def tokens_for(name: str, count: int) -> list[int]:
    return np.random.default_rng(count).integers(0, weights(name).shape.vocabulary, count).tolist()


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "target"), CASES)
def test_every_split_of_a_text_gives_the_same_logits(name: str, target: str) -> None:
    text = tokens_for(name, CAPACITY)
    model = Llama(weights(name))
    expected = np.array([model.see(token) for token in text])
    generator = compiled(name, target).generator()
    # One token, both sides of a chunk's border, everything at once: the cache is full in the end.
    for prompt in (1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK - 1, CAPACITY):
        rest = text[prompt:]
        made = generator.generate(GenerationRequest(text[:prompt], len(rest) + 1, forced=rest, keep_logits=True))
        assert made.logits is not None
        np.testing.assert_array_equal(made.logits, expected, err_msg=f"prompt of {prompt}")
        assert made.tokens == expected[prompt - 1 :].argmax(1).tolist()


@pytest.mark.parametrize(
    ("target", "soc"), [("uma-neureka", "rv32-mcu-neureka"), pytest.param("c", "rv32-mcu", marks=pytest.mark.slow)]
)
def test_one_core_copies_the_rows_of_a_cache_that_hold_a_token(target: str, soc: str) -> None:
    options = CompileOptions(target=target, soc=soc, state_memory="l2")
    app = compiled_llama("small", weights("shared_heads"), (CAPACITY, CHUNK), options)
    assert any(b"DMA_LOAD_ROWS_OF(" in text for path, text in app.files.items() if path.endswith(".c"))
    text, model = tokens_for("shared_heads", CAPACITY), Llama(weights("shared_heads"))
    expected = np.array([model.see(token) for token in text])
    made = app.generator().generate(GenerationRequest(text[:CHUNK], CAPACITY - CHUNK + 1, forced=text[CHUNK:]))
    assert made.tokens == expected[CHUNK - 1 :].argmax(1).tolist()
    assert len(set(made.tokens)) > 3


def test_tokens_stream_and_are_those_of_the_whole_run() -> None:
    app = compiled("shared_heads", "uma-neureka")
    request = GenerationRequest([3, 1, 2], 6, Sampling(temperature=1.0, seed=7))
    assert list(app.generate([3, 1, 2], 6, sampling=request.sampling)) == app.generator().generate(request).tokens


def test_choice_depends_on_the_seed_and_on_nothing_else() -> None:
    generator = compiled("shared_heads", "uma-neureka").generator()

    def drawn(seed: int) -> list[int]:
        return generator.generate(GenerationRequest([3, 1, 2], 12, Sampling(temperature=4.0, seed=seed))).tokens

    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(1, 5)}) > 1


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (GenerationRequest([], 1), "the prompt is empty"),
        (
            GenerationRequest([1] * (CAPACITY + 1), 1),
            r"the prompt has 22 tokens and the cache holds 21: shorten it or compile",
        ),
        (GenerationRequest([1] * CAPACITY, 2), r"--tokens 2 after a prompt of 21 exceed the cache of 21"),
        (GenerationRequest([1, 24], 1), r"token 24 is not in the vocabulary of 24"),
        (GenerationRequest([1], 1, forced=[1, 2]), r"--force-ids gives 2 tokens for 1 steps"),
        (GenerationRequest([1], 0), r"--tokens 0: must be at least 1"),
        (GenerationRequest([1], 1, Sampling(temperature=-1)), r"--temperature and --top-k must not be negative"),
    ],
)
def test_what_the_device_would_refuse_is_a_users_error(asked: GenerationRequest, message: str) -> None:
    with pytest.raises(UserError, match=message):
        compiled("shared_heads", "uma-neureka").generator().check(asked)


def test_weights_exist_once_for_both_entry_points() -> None:
    files = compiled("shared_heads", "uma-neureka").files
    header = files["codegen/host/include/small_prefill_weights.h"].decode()
    # Every packed matrix of the second program is one of the first.
    assert header.count("#define tvmgen_small_prefill_") >= 7 * 2
    assert b"_packed" not in files["codegen/host/src/small_prefill_weights.c"]
    # The arrays beside the C as well.
    for entry, expected in (("decode", True), ("prefill", False)):
        with np.load(io.BytesIO(files[f"parameters/small_{entry}.npz"])) as arrays:
            assert any("_packed" in name for name in arrays.files) is expected


def test_columns_of_large_products_are_the_cores_and_lie_in_the_weight_memory() -> None:
    files = compiled("wide", "uma-neureka").files
    shared = [f for f in json.loads(files["decode/plan.json"])["layers"] if "beside" in f["form"]]
    assert {layer["op"] for layer in shared} == {"dense"}
    assert b"TVM_PULP_IN_WEIGHT_" in files["codegen/host/src/small_decode_run.c"]
    # One token's weights are packed for another mode of the accelerator than a chunk's: there is room for both.
    for entry, mode in (("decode", b"_dense_3x3_packed"), ("prefill", b"_pointwise_packed")):
        assert mode in files[f"codegen/host/src/small_{entry}_weights.c"]


def test_bytes_written_to_the_cache_are_those_of_the_new_token() -> None:
    app = compiled("shared_heads", "uma-neureka")
    assert b"or 4 tokens of an element in a word" in app.files["codegen/host/src/small_decoder.c"]
    shape = weights("shared_heads").shape
    generator = app.generator()
    one = generator.generate(GenerationRequest([1, 2, 3], 2)).counters.dma["bytes_out"]
    two = generator.generate(GenerationRequest([1, 2, 3], 3)).counters.dma["bytes_out"]
    # A row of keys and one of values in every layer, and the logits. Nothing of the past is written again.
    assert two - one == 2 * shape.layers * shape.kv_width + 4 * shape.vocabulary
