"""T5, Whisper and BART of `transformers`: the encoder once, then tokens, equal to onnxruntime's."""

from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import tvm_pulp
from tests.language_models.exact_sums import exact_sums
from tests.language_models.exported_decoders import Reference
from tests.language_models.hub_encoders import (
    ENCODED,
    FAMILIES,
    FORMS,
    VOCABULARY,
    build,
    by_optimum,
    exported_model,
    exported_program,
    given,
    program_logits,
)
from tests.language_models.last_bits import moved_bits
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.session import GenerationRequest

pytestmark = pytest.mark.torch
CAPACITY = 12
TEXT = np.random.default_rng(3).integers(3, VOCABULARY, CAPACITY).tolist()
EXPORTERS = ("torchscript", "dynamo")
# With all operators quantized T5 does not run anywhere (see below): its products alone are.
WAYS = {"t5": ("float", "products", "dynamic"), "whisper": ("float", "static", "dynamic")}
WAYS["bart"] = WAYS["whisper"]
CELLS = [cell for cell in product(FAMILIES, FORMS, EXPORTERS, WAYS["t5"] + ("static",)) if cell[3] in WAYS[cell[0]]]
# One on this machine; all of them on the simulated chip.
SHORT = ("whisper", "whole", "torchscript", "float")


def plain(model: Any) -> Any:
    """A session without graph optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options)


def answered(session: Any, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Outputs by name, of those inputs that it has."""
    wanted = {i.name: feeds[i.name] for i in session.get_inputs()}
    return dict(zip((o.name for o in session.get_outputs()), session.run(None, wanted), strict=True))


def given_to(family: str, form: str) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in given(build(family), family, form).items()}


def check(
    model: Any,
    inputs: dict[str, np.ndarray],
    expected: np.ndarray,
    how: str,
    soc: str = "siracusa",
    others: Iterable[np.ndarray] = (),
) -> None:
    """`others`: logits that are as right as the expected ones, token by token."""
    planner = {} if soc == "host" else {"planner": "greedy"}
    app = tvm_pulp.compile(model, target="c", soc=soc, capacity=CAPACITY, **planner)
    request = GenerationRequest(TEXT[:5], CAPACITY - 4, forced=TEXT[5:], keep_logits=True, inputs=inputs)
    found = app.generator().generate(request)
    assert found.logits is not None
    if how == "static":
        np.testing.assert_array_equal(found.logits, expected)
    wrong = np.abs(found.logits - expected).max(1) > 1e-4
    for other in others:
        if not wrong.any():
            break
        wrong &= np.abs(found.logits - other).max(1) > 1e-4
    assert not wrong.any(), f"logits of tokens {np.flatnonzero(wrong).tolist()}"
    best = np.take_along_axis(expected[4:], np.array(found.tokens)[:, None], 1)[:, 0]
    assert (expected[4:].max(1) - best < 1e-4).all()
    # Keys and values of an encoder are made once, not for every token.
    assert found.encode_cycles is not None


def logits_of(content: bytes, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """Of onnxruntime without graph optimizations."""
    reference = Reference(content, inputs)
    return np.concatenate([reference.see([token]) for token in TEXT])


def check_file(cell: tuple[str, str, str, str], folder: Path, soc: str = "siracusa") -> None:
    """A cell: family, form, exporter, quantization; logits are those of onnxruntime without graph optimizations."""
    family, form, exporter, how = cell
    if exporter == "dynamo":
        pytest.importorskip("onnxscript", reason="onnxscript, which this exporter needs, is not installed")
    content, inputs = exported_model(*cell, folder), given_to(family, form)
    # Where a sum of floats decides which integer is next, the chip has the right one.
    expected = logits_of(exact_sums(content) if how in ("static", "products") else content, inputs)
    # Whisper beside states, older exporter: a byte of the sixth token lies on a tie, and logits are 0.09 of 42 away,
    # in the tests as in onnxruntime with the last bits of the file's parameters moved.
    moved = (logits_of(moved_bits(content, seed), inputs) for seed in range(16 if how == "dynamic" else 0))
    check(onnx.load_model_from_string(content), inputs, expected, how, soc, moved)


@pytest.mark.slow
def test_a_speech_model_generates(tmp_path: Path) -> None:
    check_file(SHORT, tmp_path, "host")


@pytest.mark.slow
@pytest.mark.parametrize(("family", "form", "exporter", "how"), CELLS)
def test_the_simulated_chip_generates_the_tokens_of_the_file(
    family: str, form: str, exporter: str, how: str, tmp_path: Path
) -> None:
    check_file((family, form, exporter, how), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "exporter"), list(product(("keys", "whole"), EXPORTERS)))
def test_scales_of_logarithms_of_zero_are_refused(form: str, exporter: str, tmp_path: Path) -> None:
    """T5's positions are logarithms, of zero too: with all operators quantized, onnxruntime does not run it either."""
    content = exported_model("t5", form, exporter, "static", tmp_path)
    reference = Reference(content, given_to("t5", form))
    with pytest.raises(Exception, match="indices element out of data bounds"):
        for token in TEXT:
            reference.see([token])
    with pytest.raises(UserError, match="must be positive and finite: quantize the model again, without nodes"):
        tvm_pulp.compile(onnx.load_model_from_string(content), target="c", soc="siracusa", capacity=CAPACITY)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["float", "pt2e"])
@pytest.mark.parametrize(("family", "form"), list(product(FAMILIES, FORMS)))
def test_the_simulated_chip_generates_the_tokens_of_a_program(family: str, form: str, how: str) -> None:
    program, inputs = exported_program(family, form, how), given(build(family), family, form)
    expected = program_logits(program, TEXT, inputs)
    # Arguments behind the first two are `rest_N`; caches come first.
    named = {f"rest_{4 + place}": tensor.numpy() for place, tensor in enumerate(inputs.values())}
    check(program, named, expected, how)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["t5", "bart"])
def test_the_files_of_optimum(family: str, tmp_path: Path) -> None:
    """Keys and values of the encoder come from the branch that begins a text."""
    encoder, decoder = by_optimum(family, tmp_path)
    ids = np.random.default_rng(5).integers(3, VOCABULARY, (1, ENCODED))
    mask = (np.arange(ENCODED) < ENCODED - 2)[None].astype(np.int64)
    inputs = {"input_ids": ids, "attention_mask": mask, "encoder_attention_mask": mask}
    states = answered(plain(str(encoder)), inputs)["last_hidden_state"]
    session = plain(str(decoder))
    caches = {i.name: np.zeros((1, 4, 0, 8), np.float32) for i in session.get_inputs() if "past" in i.name}
    expected = []
    for place, token in enumerate(TEXT):
        feeds = {"input_ids": np.array([[token]]), "encoder_hidden_states": states, "encoder_attention_mask": mask}
        found = answered(session, {**feeds, **caches, "use_cache_branch": np.array([place > 0])})
        expected.append(found["logits"][0])
        named = {name: found[name.replace("past_key_values", "present")] for name in caches}
        caches |= {name: value for name, value in named.items() if place == 0 or ".decoder." in name}
    shapes = {"input_ids": (1, ENCODED), "attention_mask": (1, ENCODED)}
    options: dict[str, Any] = {"target": "c", "soc": "siracusa", "capacity": CAPACITY, "planner": "greedy"}
    app = tvm_pulp.compile(decoder, encoder=encoder, input_shapes=shapes, **options)
    request = GenerationRequest(TEXT[:5], CAPACITY - 4, forced=TEXT[5:], keep_logits=True, inputs=inputs)
    made = app.generator().generate(request)
    np.testing.assert_allclose(made.logits, np.concatenate(expected), atol=1e-4)
    assert made.tokens == np.concatenate(expected).argmax(1)[4:].tolist()
