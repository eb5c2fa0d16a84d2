"""Sums by factors or tables: every pair of values gives the result of the network's rule."""

from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.cpu_kernels.random_layers import random_add
from tvm_pulp.codegen.cpu_kernels import call_add
from tvm_pulp.codegen.cpu_kernels.fit_rule import FRACTION
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.soc.cpu import Cpu

CPU = Cpu(devices={"host": ""})


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("bits", [20, 30])
@pytest.mark.parametrize("factors", [True, False])
def test_every_pair_of_values(seed: int, bits: int, factors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    layer, _ = random_add(rng, 0)
    if layer.attributes["form"] == "half_even":
        # Factors of 30 bits: summands are rounded, so that sums have 32.
        factors = [round(v * 2**bits) for v in rng.uniform(0.2, 1, 2)]
        layer = replace(layer, attributes={**layer.attributes, "multipliers": factors, "shift": bits})
    if not factors:
        monkeypatch.setattr(call_add, "_LARGEST_FACTOR", 0)
    call = call_add.call_add(layer, CPU)
    assert call is not None, "layers of networks have such a form"
    *tables, scale = (t.values.astype(np.int64) for t in call.layer.inputs[2:])
    (shift, multiply, add, less), linear = scale[:4], scale[4:]
    a, b = (v.reshape(-1) for v in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128)))
    if factors and layer.attributes["form"] != "plain":
        assert not tables and np.abs(linear[:2]).max() < 1 << 15
        sums = a * linear[0] + b * linear[1] + linear[2]
    else:
        sums = tables[0][a & 255] + tables[0][256 + (b & 255)]
    assert np.abs(sums << shift).max() < 1 << 31
    added = add + np.where((sums < 0) & ("AWAY" in "".join(call.body)), less, 0)
    made = np.clip((added + ((sums << shift) * multiply >> 32)) >> FRACTION, -128, 127)
    arrays = [a.astype(np.int8), b.astype(np.int8), *(t.values for t in layer.inputs[2:])]
    np.testing.assert_array_equal(made, OPERATORS["add"].reference(layer.attributes, arrays))


def test_tensors_of_other_shapes_keep_their_loops() -> None:
    layer, _ = random_add(np.random.default_rng(0), 0)
    layer.inputs[1].spec = type(layer.inputs[1].spec)((1, 1), "int8")
    assert call_add.call_add(layer, CPU) is None
