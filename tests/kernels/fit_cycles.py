"""Fit the cost models of the kernels to the simulator and write `schedules/kernel_cycles/coefficients.py`.

    python -m tests.kernels.fit_cycles [MODEL...] > coefficients.py

Half of the shapes make the fit; the error is that on the other half.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from schedules.kernel_cycles.attention import attention_work, rope_work
from schedules.kernel_cycles.elementwise import elementwise_work
from schedules.kernel_cycles.matrix import conv2d_work, dense_work, depthwise_work, matmul_work
from schedules.kernel_cycles.model import Work
from schedules.kernel_cycles.movement import copy_rows_work, pool_work, transpose_work
from schedules.kernel_cycles.rows import row_work
from tests.kernels.attention_cases import attention_case, rope_case
from tests.kernels.call import run_on_cluster
from tests.kernels.elementwise_cases import (
    add_case,
    gelu_case,
    hardswish_case,
    lookup_case,
    mul_case,
    requantize_case,
)
from tests.kernels.matrix_cases import Case, Window, conv2d_case, dense_case, depthwise_case, matmul_case
from tests.kernels.movement_cases import copy_rows_case, pool_case, transpose_case
from tests.kernels.random_requant import KINDS
from tests.kernels.row_cases import (
    i_softmax_case,
    layer_norm_case,
    rms_norm_case,
    softmax_ita_case,
    softmax_tflite_case,
)

Sample = tuple[Work, Case, int]
HEAD = '''"""Coefficients of the cost models; made by `python -m tests.kernels.fit_cycles`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fit:
    """Cycles per unit of each kind of work, and relative errors on shapes that the fit did not see."""

    values: dict[str, float]
    median_error: float
    largest_error: float


COEFFICIENTS = {'''


def typical(case: Case) -> bool:
    """Full int8 range, so that one instruction clips; 16-bit exponentials for small heads."""
    arguments = case.call.arguments
    if case.call.kernel == "attention" and arguments["size"] == 4 and arguments["small_exponential"] is None:
        return False
    rule = arguments.get("requant", {"kind": 0})
    return bool(rule["kind"] == 0 or (rule["low"], rule["high"]) == (-128, 127))


class Shapes:
    """Random sizes, denser at the small end."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def size(self, low: int, high: int, multiple: int = 1) -> int:
        value = round(float(np.exp(self.rng.uniform(np.log(low), np.log(high + 1)))))
        return max(multiple, value // multiple * multiple)

    def pick(self, *choices):  # type: ignore[no-untyped-def]
        return choices[self.rng.integers(len(choices))]

    def flag(self) -> bool:
        return bool(self.rng.integers(2))


def dense(s: Shapes, cores: int) -> Sample:
    rows, columns, depth = s.pick(1, s.size(1, 64)), s.size(4, 128), s.size(4, 256, s.pick(1, 4, 4))
    kind = s.pick("pulp", "pulp", *KINDS)
    return dense_work(rows, columns, depth, kind, cores), dense_case(s.rng, rows, columns, depth, kind), cores


def matmul(s: Shapes, cores: int) -> Sample:
    batch, rows, columns, depth = s.size(1, 4), s.size(1, 64), s.size(4, 64), s.size(4, 128, s.pick(1, 4))
    kind, transposed, unsigned = s.pick("pulp", "pulp", *KINDS), s.flag(), s.rng.random() < 0.2
    work = matmul_work(batch, rows, columns, depth, kind, cores, transposed=transposed, row_bias=unsigned)
    types = ("int8", "uint8" if unsigned else "int8")
    return work, matmul_case(s.rng, batch, rows, columns, depth, kind, types=types, transpose_b=transposed), cores


def conv2d(s: Shapes, cores: int) -> Sample:
    channels, out_channels = s.size(3, 48, s.pick(1, 4, 4)), s.size(4, 48)
    window = s.pick(Window(), Window(), Window((1, 1), pads=(0, 0, 0, 0)), Window((3, 3), (2, 2)), Window((5, 3)))
    height, width = s.size(5, 20), s.size(5, 20)
    kind = s.pick("pulp", "pulp", *KINDS)
    case = conv2d_case(s.rng, (height, width, channels), out_channels, window, kind)
    pixels = int(np.prod(case.expected.shape[1:3]))
    direct = window.kernel == (1, 1) and channels % 4 == 0
    return conv2d_work(pixels, channels, out_channels, window.kernel, kind, cores, direct=direct), case, cores


def depthwise(s: Shapes, cores: int) -> Sample:
    channels, height, width = s.size(4, 96, s.pick(1, 4, 4)), s.size(5, 26), s.size(5, 26)
    window = s.pick(Window(), Window(), Window(strides=(2, 2)), Window((5, 5), pads=(2, 2, 2, 2)))
    kind, rows = s.pick("pulp", "pulp", "pulp", *KINDS), window.kernel[0] + s.size(1, 24) - 1
    case = depthwise_case(s.rng, (height, width, channels), window, kind, plane_rows=rows)
    size = case.expected.shape[1:3]
    return depthwise_work(size, channels, window.kernel, window.strides, kind, rows, cores), case, cores  # type: ignore[arg-type]


def elementwise(s: Shapes, cores: int) -> Sample:
    rows, columns = s.size(1, 64), s.size(8, 400)
    int32 = ["requantize_int32"] * 4
    name = s.pick("add_tables", "add", "mul", "requantize", *int32, "hardswish", "gelu", "lookup")
    dense, kind = True, "pulp"
    if name == "lookup":
        case = lookup_case(s.rng, rows * columns)
    elif name == "add_tables":
        case = add_case(s.rng, rows, columns, form="inner")
    elif name == "add":
        dense = rows == 1 or s.flag()
        case = add_case(s.rng, rows, columns, form="plain", broadcast=not dense)
    elif name == "mul":
        dense = rows == 1 or s.flag()
        case = mul_case(s.rng, rows, columns, broadcast=not dense)
    elif name == "requantize":
        case = requantize_case(s.rng, rows, columns)
    elif name == "requantize_int32":
        kind = s.pick("pulp", "tflite", "half_up", "half_even")
        case = requantize_case(s.rng, rows, columns, kind, dtype="int32")
    elif name == "hardswish":
        case = hardswish_case(s.rng, rows, columns)
    else:
        case = gelu_case(s.rng, rows, columns)
    return elementwise_work(name, rows, columns, kind, cores, dense=dense), case, cores


def rows(s: Shapes, cores: int) -> Sample:
    count, columns = s.size(1, 64), s.size(8, 256)
    makers = {
        "i_softmax": i_softmax_case,
        "softmax_ita": softmax_ita_case,
        "softmax_tflite": softmax_tflite_case,
        "rms_norm": rms_norm_case,
        "layer_norm": layer_norm_case,
    }
    name = s.pick(*makers)
    return row_work(name, count, columns, cores), makers[name](s.rng, count, columns), cores


def attention(s: Shapes, cores: int) -> Sample:
    heads, queries, keys = s.size(1, 16), s.pick(1, s.size(1, 48)), s.size(4, 96, s.pick(1, 4, 4))
    size, table, mask, batch = s.pick(4, 4, 8, 16, 32), s.flag(), s.flag(), s.pick(1, 8, 16, 16)
    small, covered = size == 4, size == 4 and s.flag()
    case = attention_case(
        s.rng, heads, queries, keys, size, with_table=table, with_mask=mask, batch=batch, small=small, covered=covered,
    )  # fmt: skip
    covers = bool(case.call.arguments["table_covers"])
    return attention_work(heads, queries, keys, size, cores, covers=covers, mask=mask, batch=batch), case, cores


def rope(s: Shapes, cores: int) -> Sample:
    positions, heads = s.pick(1, s.size(1, 64)), s.size(4, 32)
    return rope_work(positions, heads, cores), rope_case(s.rng, positions, heads, 4), cores


def pool(s: Shapes, cores: int) -> Sample:
    height, width, channels = s.size(6, 20), s.size(6, 20), s.size(4, 64)
    window = s.pick(Window((2, 2), (2, 2), pads=(0, 0, 0, 0)), Window((6, 6), (6, 6), pads=(0, 0, 0, 0)))
    average = s.flag()
    case = pool_case(s.rng, (height, width, channels), window, average=average)
    pixels = int(np.prod(case.expected.shape[1:3]))
    return pool_work(pixels, channels, window.kernel, cores, average=average), case, cores


def transpose(s: Shapes, cores: int) -> Sample:
    shape = (s.size(1, 4), s.size(1, 16), s.size(2, 32), s.size(2, 64))
    axes, dtype = s.pick((0, 1, 3, 2), (0, 2, 1, 3), (2, 0, 3, 1)), s.pick("int8", "int8", "int32")
    case = transpose_case(s.rng, shape, axes, dtype=dtype)
    line = case.expected.shape[3]
    lines, bytes_ = case.expected.size // line, case.expected.itemsize
    return transpose_work(lines, line, cores, element_bytes=bytes_, contiguous=axes[3] == 3), case, cores


def copy_rows(s: Shapes, cores: int) -> Sample:
    count, size = s.size(1, 64), s.size(4, 256)
    return copy_rows_work(count, size, cores), copy_rows_case(s.rng, count, size, 4), cores


MODELS = {
    "dense": (dense, 400),
    "matmul": (matmul, 400),
    "conv2d": (conv2d, 240),
    "depthwise": (depthwise, 200),
    "elementwise": (elementwise, 300),
    "rows": (rows, 160),
    "attention": (attention, 160),
    "rope": (rope, 40),
    "pool": (pool, 80),
    "transpose": (transpose, 80),
    "copy_rows": (copy_rows, 80),
}


def samples(model: str, seed: int, count: int) -> Iterator[tuple[Work, int]]:
    """Work and measured cycles of random calls."""
    make, shapes, made = MODELS[model][0], Shapes(seed), 0
    while made < count:
        work, case, cores = make(shapes, shapes.pick(8, 8, 8, 1, 3))
        used = sum(v.nbytes for v in case.call.arguments.values() if isinstance(v, np.ndarray))
        if not typical(case) or used > 120_000:
            continue
        made += 1
        yield work, max(core["own_cycles"] for core in run_on_cluster(case.call, cores).cores)


def errors(values: dict[str, float], data: list[tuple[Work, int]]) -> np.ndarray:
    """Relative errors of a model."""
    return np.array([sum(values[n] * c for n, c in work.items()) / cycles - 1 for work, cycles in data])


def fit(data: list[tuple[Work, int]]) -> dict[str, float]:
    """Least squares of the relative error, without negative coefficients."""
    names = sorted({name for work, _ in data for name in work})
    matrix = np.array([[work.get(name, 0) / cycles for name in names] for work, cycles in data])
    active = list(range(len(names)))
    while True:
        solution = np.linalg.lstsq(matrix[:, active], np.ones(len(data)), rcond=None)[0]
        negative = [a for a, value in zip(active, solution, strict=True) if value < 0]
        if not negative:
            break
        active.remove(min(negative, key=lambda a: solution[active.index(a)]))
    values = dict.fromkeys(names, 0.0)
    values.update({names[a]: round(float(v), 3) for a, v in zip(active, solution, strict=True)})
    return values


def describe(model: str, count: int) -> str:
    """One entry of the table."""
    values = fit(list(samples(model, 1, count)))
    wrong = np.abs(errors(values, list(samples(model, 2, count // 2))))
    median, largest = float(np.median(wrong)), float(wrong.max())
    sys.stderr.write(f"{model:12} median error {median:.1%}, largest {largest:.1%}\n")
    body = ", ".join(f'"{name}": {value}' for name, value in values.items())
    return f'    "{model}": Fit({{{body}}}, {median:.3f}, {largest:.3f}),\n'


def main() -> int:
    chosen = sys.argv[1:] or list(MODELS)
    entries = [describe(model, MODELS[model][1]) for model in chosen]
    sys.stdout.write("".join([HEAD, "\n", *entries, "}\n"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
