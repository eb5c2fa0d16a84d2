"""Products of two activations on cores in tiles equal numpy: odd sizes, types, zero points, batches."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from tvm_pulp import qnn, soc
from tvm_pulp.entry_point import plan_for, prepare_module
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.conformance.layer_network import simulate, target_for

LIMITS = {"int8": (-128, 128), "uint8": (0, 256)}


def cases() -> list[Any]:
    """Machines and seeds; two on the smallest in the default run."""
    pairs = [(machine, seed) for machine in ("minpool", "mempool", "itapool") for seed in range(16)]
    return [pytest.param(*p, marks=[] if p in (pairs[0], pairs[3]) else [pytest.mark.slow]) for p in pairs]


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

    builder = relax.BlockBuilder()
    given = [relax.Var(n, relax.TensorType(x.shape, str(x.dtype))) for n, x in zip("ab", operands, strict=True)]
    with builder.function("main", given):
        with builder.dataflow():
            made = builder.emit(qnn.emit("matmul", [*given, *map(relax.const, constants)], attributes))
            result = builder.emit_output(relax.Tuple([made]))
        builder.emit_func_output(result)
    target = target_for(soc.load(machine))
    module = prepare_module(builder.get(), target)
    network = build_network(module, Imported(module, ("a", "b"), ("y",), "pulp"), "network")
    run = simulate(target, plan_for(target, network), operands)

    a, b = (x.astype(np.int64) - point for x, point in zip(operands, points, strict=True))
    sums = a @ (b.swapaxes(-1, -2) if transpose_b else b)
    np.testing.assert_array_equal(run.outputs[0], np.clip((sums * 9 + (1 << 13)) >> 14, -128, 127))
