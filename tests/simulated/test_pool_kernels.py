"""Kernels for cores in tiles equal numpy: products, depthwise convolutions, LayerNorm, tables; odd sizes and types."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tvm_pulp import qnn, soc
from tvm_pulp.entry_point import plan_for, prepare_module
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.qnn import OPERATORS
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.conformance.layer_network import simulate, target_for

LIMITS = {"int8": (-128, 128), "uint8": (0, 256)}


def cases() -> list[Any]:
    """Machines and seeds; two on the smallest in the default run."""
    pairs = [(machine, seed) for machine in ("minpool", "mempool", "itapool") for seed in range(16)]
    return [pytest.param(*p, marks=[] if p in (pairs[0], pairs[3]) else [pytest.mark.slow]) for p in pairs]


def run_operator(
    machine: str, operator: str, operands: list[np.ndarray], constants: list[np.ndarray], attributes: dict[str, Any]
) -> list[np.ndarray]:
    """One operator as a network, simulated twice."""
    builder, names = relax.BlockBuilder(), [f"x{i}" for i in range(len(operands))]
    given = [relax.Var(n, relax.TensorType(x.shape, str(x.dtype))) for n, x in zip(names, operands, strict=True)]
    with builder.function("main", given):
        with builder.dataflow():
            made = builder.emit(qnn.emit(operator, [*given, *map(relax.const, constants)], attributes))
            result = builder.emit_output(relax.Tuple([made]))
        builder.emit_func_output(result)
    target = target_for(soc.load(machine))
    module = prepare_module(builder.get(), target)
    network = build_network(module, Imported(module, tuple(names), ("y",), "pulp"), "network")
    return simulate(target, plan_for(target, network), operands).outputs


@pytest.mark.parametrize("machine, seed", cases())
def test_norms_give_the_bits_of_numpy(machine: str, seed: int) -> None:
    """Rows shared by many cores, and several rows for each."""
    random = np.random.default_rng(600 + seed)
    rows, columns = int(random.choice([1, 5, 20, 70])), int(random.choice([16, 31, 64, 128]))
    low, high = LIMITS[dtype := str(random.choice(list(LIMITS)))]
    x = random.integers(low, high, (1, rows, columns)).astype(dtype)
    weight = random.integers(-3 << 15, 3 << 15, columns).astype(np.int32)
    bias = random.integers(-1 << 21, 1 << 21, columns).astype(np.int32)
    attributes = {"shift": 16, "levels": 256, "wide": 0}
    (found,) = run_operator(machine, "layer_norm", [x], [weight, bias], attributes)
    np.testing.assert_array_equal(
        found, OPERATORS["layer_norm"].reference(OPERATORS["layer_norm"].stated(attributes), [x, weight, bias])
    )


@pytest.mark.parametrize("machine, seed", cases())
def test_products_give_the_bits_of_numpy(machine: str, seed: int) -> None:
    random = np.random.default_rng(300 + seed)
    batch, rows, columns = (int(random.choice(n)) for n in ([1, 3], [1, 4, 9, 37], [4, 11, 16, 64]))
    depth, transpose_b = int(random.choice([3, 16, 30, 64])), int(seed % 2)
    types = [str(t) for t in random.choice(list(LIMITS), 2)]
    points = [int(random.integers(*LIMITS[t])) if random.random() < 0.5 else 0 for t in types]
    shapes = [(1, batch, rows, depth), (1, batch, columns, depth) if transpose_b else (1, batch, depth, columns)]
    operands = [random.integers(*LIMITS[t], s).astype(t) for s, t in zip(shapes, types, strict=True)]
    rule = Requant("pulp", 14, 0, -128, 127)
    constants = [np.array([n], np.int32) for n in (9, 1 << 13)]
    attributes = {"zero_point_a": points[0], "zero_point_b": points[1], "transpose_b": transpose_b, **rule.attributes()}

    (found,) = run_operator(machine, "matmul", operands, constants, attributes)
    a, b = (x.astype(np.int64) - point for x, point in zip(operands, points, strict=True))
    sums = a @ (b.swapaxes(-1, -2) if transpose_b else b)
    np.testing.assert_array_equal(found, np.clip((sums * 9 + (1 << 13)) >> 14, -128, 127))


@pytest.mark.parametrize("machine, seed", cases())
def test_depthwise_convolutions_give_the_bits_of_numpy(machine: str, seed: int) -> None:
    """Windows that slide or jump, others tap by tap; borders, dilation, zero points, several results of each."""
    random = np.random.default_rng(900 + seed)
    kernel = [3, 3] if seed % 4 else [int(n) for n in random.choice([1, 2, 3, 5], 2)]
    strides, dilation = ([int(n) for n in random.choice(c, 2)] for c in ([1, 1, 2], [1, 1, 1, 2]))
    height, width = (int(n) for n in random.integers(max(kernel) * 2, 40, 2))
    channels, multiplier = int(random.choice([2, 7, 16, 36])), int(random.choice([1, 1, 3]))
    pads = [int(random.integers(0, (k - 1) * d + 1)) for k, d in zip(kernel * 2, dilation * 2, strict=True)]
    low, high = LIMITS[dtype := str(random.choice(list(LIMITS)))]
    x = random.integers(low, high, (1, height, width, channels)).astype(dtype)
    count = channels * multiplier
    weight = random.integers(-128, 128, (count, *kernel, 1)).astype(np.int8)
    bias = random.integers(-5000, 5000, count).astype(np.int32)
    rules = {
        "pulp": (
            Requant("pulp", 16, 0, -128, 127),
            random.integers(50, 900, count),
            random.integers(-9000, 9000, count),
        ),
        "tflite": (
            Requant("tflite", 0, 3, -128, 127),
            random.integers(1 << 30, (1 << 31) - 1, count),
            np.full(count, -7),
        ),
    }
    rule, mul, add = rules["tflite" if seed % 3 == 2 else "pulp"]
    constants = [weight, bias, mul.astype(np.int32), add.astype(np.int32)]
    attributes = {
        "strides": strides, "pads": pads, "dilation": dilation, "groups": channels, "layout": "NHWC", "has_bias": 1,
        "zero_point": int(random.integers(low, high)) if seed % 2 else 0, **rule.attributes(),
    }  # fmt: skip
    (found,) = run_operator(machine, "conv2d", [x], constants, attributes)
    np.testing.assert_array_equal(
        found, OPERATORS["conv2d"].reference(OPERATORS["conv2d"].stated(attributes), [x, *constants])
    )


@pytest.mark.parametrize("machine, seed", cases())
def test_tables_give_the_bits_of_numpy(machine: str, seed: int) -> None:
    """Eight bytes at a time and what is left of them; one table, or as many as go round all banks."""
    random = np.random.default_rng(1200 + seed)
    count = int(random.choice([3, 2000, 9001, 40_007]))
    types = [str(t) for t in random.choice(list(LIMITS), 2)]
    x, table = (random.integers(*LIMITS[t], n).astype(t) for t, n in zip(types, (count, 256), strict=True))
    (found,) = run_operator(machine, "lookup", [x[None]], [table], {})
    np.testing.assert_array_equal(found, table[x.astype(np.int64) - LIMITS[types[0]][0]][None])
