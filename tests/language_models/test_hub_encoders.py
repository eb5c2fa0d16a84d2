"""T5, Whisper and BART of `transformers`: the encoder once, then tokens, equal to onnxruntime's."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import tvm_pulp
from tests.language_models.hub_encoders import ENCODED, FAMILIES, FORMS, VOCABULARY, by_optimum, exported
from tvm_pulp.language_models.session import GenerationRequest

pytestmark = pytest.mark.torch
CAPACITY = 12
TEXT = np.random.default_rng(3).integers(3, VOCABULARY, CAPACITY).tolist()
EXPORTERS = ("torchscript", "dynamo")
# One on this machine; all of them on the simulated chip.
SHORT = ("whisper", "whole", "torchscript")


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


def reference(content: bytes, given: dict[str, np.ndarray]) -> np.ndarray:
    """Logits of onnxruntime without graph optimizations, token by token."""
    session = plain(content)
    wanted = [i.name for i in session.get_inputs()]
    pasts = [name for name in wanted if name.startswith("past.")]
    caches, found = [np.zeros((1, 4, 0, 8), np.float32) for _ in pasts], []
    for place, token in enumerate(TEXT):
        feeds = {"tokens": np.array([[token]]), "positions": np.array([[place]]), **given}
        feeds |= dict(zip(pasts, caches, strict=True))
        logits, *caches = session.run(None, {name: feeds[name] for name in wanted})
        found.append(logits[0])
    return np.concatenate(found)


def check(cell: tuple[str, str, str], folder: Path, soc: str) -> None:
    content, given = exported(*cell, folder)
    expected = reference(content, given)
    planner = {} if soc == "host" else {"planner": "greedy"}
    model = onnx.load_model_from_string(content)
    app = tvm_pulp.compile(model, target="c", soc=soc, capacity=CAPACITY, **planner)
    request = GenerationRequest(TEXT[:5], CAPACITY - 4, forced=TEXT[5:], keep_logits=True, inputs=given)
    found = app.generator().generate(request)
    np.testing.assert_allclose(found.logits, expected, atol=1e-4)
    best = np.take_along_axis(expected[4:], np.array(found.tokens)[:, None], 1)[:, 0]
    assert (expected[4:].max(1) - best < 1e-4).all()
    # Keys and values of an encoder are made once, not for every token.
    assert found.encode_cycles is not None


@pytest.mark.slow
def test_a_speech_model_generates(tmp_path: Path) -> None:
    check(SHORT, tmp_path, "host")


@pytest.mark.slow
@pytest.mark.parametrize(("family", "form", "exporter"), list(product(FAMILIES, FORMS, EXPORTERS)))
def test_the_simulated_chip_generates_the_tokens_of_the_file(
    family: str, form: str, exporter: str, tmp_path: Path
) -> None:
    if exporter == "dynamo":
        pytest.importorskip("onnxscript", reason="onnxscript, which this exporter needs, is not installed")
    check((family, form, exporter), tmp_path, "siracusa")


@pytest.mark.slow
@pytest.mark.parametrize("family", ["t5", "bart"])
def test_the_files_of_optimum(family: str, tmp_path: Path) -> None:
    """Keys and values of the encoder come from the branch that begins a text."""
    encoder, decoder = by_optimum(family, tmp_path)
    ids = np.random.default_rng(5).integers(3, VOCABULARY, (1, ENCODED))
    mask = (np.arange(ENCODED) < ENCODED - 2)[None].astype(np.int64)
    given = {"input_ids": ids, "attention_mask": mask, "encoder_attention_mask": mask}
    states = answered(plain(str(encoder)), given)["last_hidden_state"]
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
    request = GenerationRequest(TEXT[:5], CAPACITY - 4, forced=TEXT[5:], keep_logits=True, inputs=given)
    made = app.generator().generate(request)
    np.testing.assert_allclose(made.logits, np.concatenate(expected), atol=1e-4)
    assert made.tokens == np.concatenate(expected).argmax(1)[4:].tolist()
