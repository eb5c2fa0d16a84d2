"""Decoders of `transformers` as exporters write them: the logits of onnxruntime without graph optimizations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.language_models.exact_sums import exact_sums
from tests.language_models.exported.test_program import CAPACITY, CHUNK, Device
from tests.language_models.exported_decoders import Reference
from tests.language_models.hub_cells import CELLS, GENERATED, NOT_MADE, REFUSED, WITHOUT_MASK
from tests.language_models.hub_decoders import VOCABULARY, exported_model, exported_program, program_logits
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.request import open_graph
from tvm_pulp.language_models.session import GenerationRequest

pytestmark = pytest.mark.torch
# These run with all tests that need PyTorch: every family, and what PyTorch's own exporters make. The matrix is slow;
# optimum needs an older `transformers` than the one that is installed with PyTorch here.
COVER = {
    ("llama", "torchscript", "static"),
    ("smollm", "dynamo", "nbits"),
    ("mistral", "merged", "float"),
    ("mistral_window", "merged", "nbits"),
    ("qwen2", "export", "float"),
    ("gemma", "torchscript", "nbits"),
    ("gpt2", "dynamo", "static"),
    ("gpt_neox", "merged", "dynamic"),
    ("opt", "dynamo", "float"),
    ("phi", "torchscript", "dynamic"),
}

# The simulated chip generates with it in a second or two.
SHORT = ("mistral", "merged", "float")


def marks(cell: tuple[str, str, str]) -> list[pytest.MarkDecorator]:
    return [] if cell in COVER else [pytest.mark.slow]


MATRIX = [pytest.param(*cell, marks=marks(cell)) for cell in CELLS]
TEXT = np.random.default_rng(3).integers(3, VOCABULARY, CAPACITY).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hub")


def given(family: str, exporter: str, how: str, folder: Path) -> tuple[Any, np.ndarray]:
    """The model, and what its own tool computes, token by token."""
    if exporter == "export":
        program = exported_program(family, how)
        return program, program_logits(program, TEXT)
    if (family, exporter, how) in NOT_MADE:
        with pytest.raises(Exception, match=NOT_MADE[family, exporter, how]):
            exported_model(family, exporter, how, folder)
        pytest.skip("the quantizer does not make it")
    content = exported_model(family, exporter, how, folder)
    reference = Reference(content)
    return content, np.concatenate([reference.see([token]) for token in TEXT])


def check(found: np.ndarray, expected: np.ndarray, how: str) -> None:
    """Equal where everything is integers; else the same tokens but for ties."""
    if how == "static":
        np.testing.assert_array_equal(found, expected)
        return
    np.testing.assert_allclose(found, expected, atol=0.05 if how == "dynamic" else 1e-4)
    best = np.take_along_axis(expected, found.argmax(1)[:, None], 1)[:, 0]
    assert how == "dynamic" or (expected.max(1) - best < 1e-4).all()


@pytest.mark.parametrize(("family", "exporter", "how"), MATRIX)
def test_programs_compute_what_the_file_computes(family: str, exporter: str, how: str, folder: Path) -> None:
    model, expected = given(family, exporter, how, folder)
    # Where ranges come from the values themselves, tokens that are seen together change each other; merged files go on
    # token by token.
    alone = how == "dynamic" or exporter == "merged" or (family, exporter, how) in WITHOUT_MASK
    chunk = 1 if alone else CHUNK
    device = Device(model if isinstance(model, bytes) else open_graph(model), chunk)
    seen = 2 * chunk
    parts = [TEXT[:chunk], TEXT[chunk:seen], *([token] for token in TEXT[seen:])]
    check(np.concatenate([device.see(part) for part in parts]), expected, how)


@pytest.mark.parametrize(
    ("family", "exporter", "how"),
    [pytest.param(*cell, marks=() if cell == SHORT else pytest.mark.slow) for cell in sorted(GENERATED)],
)
def test_the_simulated_chip_generates_the_tokens_of_the_file(
    family: str, exporter: str, how: str, folder: Path
) -> None:
    model, expected = given(family, exporter, how, folder)
    if how == "static" and isinstance(model, bytes):
        # Where a sum of floats decides which integer is next, the chip has the right one.
        reference = Reference(exact_sums(model))
        expected = np.concatenate([reference.see([token]) for token in TEXT])
    if isinstance(model, bytes):
        path = folder / f"{family}_{exporter}_{how}.onnx"
        path.write_bytes(model)
        model = path
    options: dict[str, Any] = {"target": "c", "soc": "siracusa", "capacity": CAPACITY, "planner": "greedy"}
    if (family, exporter, how) in REFUSED:
        with pytest.raises(UserError, match=REFUSED[family, exporter, how]):
            tvm_pulp.compile(model, **options)
        return
    request = GenerationRequest(TEXT[:5], CAPACITY - 4, forced=TEXT[5:], keep_logits=True)
    found = tvm_pulp.compile(model, **options).generator().generate(request).logits
    assert found is not None
    check(found, expected, how)
