"""Sums by factors or tables: every pair of values gives the result of the network's rule."""

from dataclasses import replace

import numpy as np
import pytest

from schedules.cpu.add import add_products, add_summands
from tests.schedules.cpu.random_layers import random_add
from tvm_pulp.qnn.fit_rule import FRACTION
from tvm_pulp.qnn.operator import OPERATORS
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.uma.cpu_form import NotOffered

CPU = Cpu(devices={"host": ""})


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("bits", [20, 30])
@pytest.mark.parametrize("by_factors", [True, False])
def test_every_pair_of_values(seed: int, bits: int, by_factors: bool) -> None:
    rng = np.random.default_rng(seed)
    layer, _ = random_add(rng, 0)
    if layer.attributes["form"] == "half_even":
        # Factors of 30 bits: summands are rounded, so that sums have 32.
        factors = [round(v * 2**bits) for v in rng.uniform(0.2, 1, 2)]
        layer = replace(layer, attributes={**layer.attributes, "multipliers": factors, "shift": bits})
    if by_factors and layer.attributes["form"] == "plain":
        with pytest.raises(NotOffered, match="no factors of 16 bits"):
            add_products(layer, CPU)
        return
    call = (add_products if by_factors else add_summands)(layer, CPU)
    *tables, scale = (t.values.astype(np.int64) for t in call.layer.inputs[2:])
    (shift, multiply, add, less), linear = scale[:4], scale[4:]
    a, b = (v.reshape(-1) for v in np.meshgrid(np.arange(-128, 128), np.arange(-128, 128)))
    if by_factors:
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
    for form in (add_products, add_summands):
        with pytest.raises(NotOffered, match="a summand is neither as large as the result nor a row of it"):
            form(layer, CPU)
