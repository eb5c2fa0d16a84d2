"""The zoo's interface: names, errors, declared inputs, and the promise of the same bytes for the same seed."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tvm_pulp.errors import UserError
from tvm_pulp.frontend import zoo

# Digests of all constants of seed 0. They change only when a network is changed on purpose: a numpy, a processor or
# a linear-algebra library must not change them.
DIGESTS = {
    "dscnn": "b2c9c5c8818bc916",
    "mobilenetv1": "a0df886af017bbfb",
    "resnet8": "273b2f13d4e8c0a2",
    "autoencoder": "2daaeefb37adb847",
    "mobilenetv1_1.0_128": "2defcad088eb16dd",
    "tinyllama": "59768be5e65a8495",
    "vit_block": "5cb0618d694f8699",
    "qdq_llama": "e57b05712c5c2b8b",
    "qdq_encoder": "40f4c83b2a75740c",
}


def digest(model: Any) -> str:
    """Hash of the names and values of all constants."""
    total = hashlib.sha256()
    for constant in model.graph.initializer:
        total.update(constant.name.encode())
        values = np.ascontiguousarray(numpy_helper.to_array(constant))
        whole = values.dtype.kind != "f" or np.array_equal(values, np.rint(values))
        total.update(values.astype("<i8" if whole else "<f4").tobytes())
    return total.hexdigest()[:16]


def test_every_network_has_a_digest() -> None:
    assert set(DIGESTS) == set(zoo.names())


@pytest.mark.parametrize("name", zoo.names())
def test_constants_are_the_recorded_ones(name: str) -> None:
    assert digest(zoo.build(name)) == DIGESTS[name]


@pytest.mark.parametrize("name", ["dscnn", "tinyllama"])
def test_same_seed_same_bytes(name: str) -> None:
    first, second = (zoo.build(name, seed=7).SerializeToString(deterministic=True) for _ in range(2))
    assert first == second


def test_another_seed_is_another_network() -> None:
    assert digest(zoo.build("dscnn", seed=1)) != digest(zoo.build("dscnn", seed=2))
    first, second = (zoo.sample_inputs("dscnn", seed) for seed in (1, 2))
    assert not np.array_equal(first[0], second[0])


@pytest.mark.parametrize("name", zoo.names())
def test_samples_have_the_declared_types_and_shapes(name: str) -> None:
    model, samples = zoo.build(name), zoo.sample_inputs(name, seed=3)
    elements = {onnx.TensorProto.INT8: np.int8, onnx.TensorProto.UINT8: np.uint8}
    assert len(model.graph.input) == len(samples)
    for declared, array in zip(model.graph.input, samples, strict=True):
        kind = declared.type.tensor_type
        assert elements[kind.elem_type] == array.dtype
        assert tuple(d.dim_value for d in kind.shape.dim) == array.shape


def test_weight_bits_limit_the_weights() -> None:
    model = zoo.build("resnet8", weight_bits=4)
    weights = [numpy_helper.to_array(c) for c in model.graph.initializer if c.name.endswith("_weight")]
    assert {int(np.abs(w).max()) for w in weights} == {7}


def test_unknown_name_lists_close_matches() -> None:
    with pytest.raises(UserError, match=r"no network 'resnet18': did you mean resnet8"):
        zoo.build("resnet18")


def test_name_like_no_other_lists_all() -> None:
    with pytest.raises(UserError, match=r"no network 'qqq': the networks are dscnn, .*vit_block"):
        zoo.sample_inputs("qqq")


@pytest.mark.parametrize("bits", [1, 9])
def test_weight_bits_outside_the_range(bits: int) -> None:
    with pytest.raises(UserError, match=f"weight_bits is {bits}, choose 2 to 8"):
        zoo.build("dscnn", weight_bits=bits)


def test_building_does_not_import_tvm(repository: Path) -> None:
    program = "import sys; from tvm_pulp import zoo; zoo.build('dscnn'); sys.exit('tvm' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=repository, check=True, timeout=120)
