"""Transposes join each other and matrix products; values stay."""

import numpy as np
from tvm import relax

from tests.canonicalize.small_modules import build, matmul, operators
from tvm_pulp.canonicalize.fold_transposes import FoldTransposes
from tvm_pulp.qnn.interpret import interpret

RANDOM = np.random.Generator(np.random.PCG64(1))


def random(*shape: int) -> np.ndarray:
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def test_two_transposes_are_one() -> None:
    """The joined permutation is applied in one step."""

    def body(emit, x):  # type: ignore[no-untyped-def]
        return [emit("transpose", [emit("transpose", [x], {"axes": [2, 0, 1]})], {"axes": [0, 2, 1]})]

    module = build({"x": ((2, 3, 5), "int8")}, body)
    done = FoldTransposes().run(module)
    x = random(2, 3, 5)
    assert operators(done) == ["transpose"]
    np.testing.assert_array_equal(interpret(done, [x])[0], interpret(module, [x])[0])


def test_there_and_back_is_nothing() -> None:
    """A permutation and its inverse cancel: main returns its input."""

    def body(emit, x):  # type: ignore[no-untyped-def]
        return [emit("transpose", [emit("transpose", [x], {"axes": [1, 2, 0]})], {"axes": [2, 0, 1]})]

    assert operators(FoldTransposes().run(build({"x": ((2, 3, 5), "int8")}, body))) == []


def test_matmul_reads_the_other_way() -> None:
    """A transposed right operand costs no copy."""

    def body(emit, a, b):  # type: ignore[no-untyped-def]
        return [matmul(emit, a, emit("transpose", [b], {"axes": [0, 2, 1]}), 3)]

    module = build({"a": ((2, 3, 4), "int8"), "b": ((2, 5, 4), "int8")}, body)
    done = FoldTransposes().run(module)
    values = [random(2, 3, 4), random(2, 5, 4)]
    assert operators(done) == ["matmul"]
    np.testing.assert_array_equal(interpret(done, values)[0], interpret(module, values)[0])


def test_pixels_as_rows_are_a_view() -> None:
    """Channels first, pixels as one axis, channels last again: what lay in memory before."""

    def body(emit, x):  # type: ignore[no-untyped-def]
        planes = emit("transpose", [x], {"axes": [0, 3, 1, 2]})
        return [emit("transpose", [relax.op.reshape(planes, (1, 5, 6))], {"axes": [0, 2, 1]})]

    module = build({"x": ((1, 2, 3, 5), "int8")}, body)
    done = FoldTransposes().run(module)
    x = random(1, 2, 3, 5)
    assert operators(done) == ["relax.reshape"]
    np.testing.assert_array_equal(interpret(done, [x])[0], interpret(module, [x])[0])


def test_divided_axes_stay() -> None:
    """A reshape that cuts through axes is no permutation."""

    def body(emit, x):  # type: ignore[no-untyped-def]
        turned = emit("transpose", [x], {"axes": [1, 0, 2]})
        return [emit("transpose", [relax.op.reshape(turned, (2, 3, 10))], {"axes": [0, 2, 1]})]

    module = build({"x": ((4, 3, 5), "int8")}, body)
    done = FoldTransposes().run(module)
    x = random(4, 3, 5)
    assert operators(done) == ["transpose", "relax.reshape", "transpose"]
    np.testing.assert_array_equal(interpret(done, [x])[0], interpret(module, [x])[0])
