"""Fit the cost models of the kernels to the simulator and write `schedules/kernel_cycles/coefficients.yaml`.

    scripts/fit_kernel_cycles [--keep] [--soc NAME] [KERNEL...]

Calls of random sizes are measured twice: the first call finds no code in the instruction caches, the second all of it.
Two thirds make the fit; the error is that on the others. Kernels that are not named keep their coefficients, and with
`--keep` so does all work that had one: only what is new is fitted, and no plan without it moves.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedules.cluster.catalog import available
from schedules.kernel_cycles import family_of, work_of
from schedules.kernel_cycles.coefficients import COEFFICIENTS, Fit, read_coefficients
from schedules.kernel_cycles.model import Work
from tests.kernels.added_row_cases import requantize_add_sum_case, requantize_add_table_case
from tests.kernels.attention_shapes import (
    attention,
    attention_weights,
    past_attention,
    past_part,
    past_qdq_attention,
    qdq_attention,
    qdq_rope,
    qdq_weights,
    rope,
    rotary,
    row_sums,
    value_groups,
)
from tests.kernels.bias_of_rest_case import bias_of_rest_case
from tests.kernels.call import REPOSITORY, run_on_cluster
from tests.kernels.elementwise_cases import (
    add_accumulators_case,
    add_case,
    add_in_range_case,
    dequantize_case,
    gate_case,
    gelu_case,
    hardswish_case,
    lookup_case,
    lookup_pairs_case,
    mul_case,
    qdq_mul_case,
    quantize_case,
    requantize_add_case,
    requantize_case,
    requantize_sum_case,
    requantize_table_case,
    thinned_case,
)
from tests.kernels.matrix_cases import Case
from tests.kernels.matrix_shapes import (
    Shapes,
    conv2d,
    dense,
    depthwise_conv2d,
    long_dense,
    matmul,
    nibble_dense,
    small_depthwise,
)
from tests.kernels.movement_shapes import (
    bit_planes,
    copy_rows,
    from_blocks,
    im2col,
    join_planes,
    mean_pool,
    pool,
    resize,
    space_to_depth,
    to_blocks,
    transpose,
)
from tests.kernels.pair_cases import add_pairs_case
from tests.kernels.random_requant import KINDS
from tests.kernels.row_cases import (
    group_norm_case,
    i_softmax_case,
    layer_norm_case,
    qdq_norm_case,
    rms_norm_case,
    softmax_ita_case,
    softmax_table_case,
    softmax_tflite_case,
    uniform_norm_case,
)
from tests.kernels.settle_case import settle_case
from tvm_pulp.soc import Soc, load
from tvm_pulp.soc.cost_model import MEASURED_BANKS, MEASURED_CORES, MEASURED_REFILL

# The machine that is measured.
SOC = load("siracusa")
TARGET = REPOSITORY / "schedules/kernel_cycles/coefficients.yaml"
HEAD = "# Coefficients of the cost models of the cluster kernels; made by scripts/fit_kernel_cycles.\n"


def typical(case: Case) -> bool:
    """Full int8 range, so that one instruction clips; 16-bit exponentials for small heads."""
    arguments = case.call.arguments
    if case.call.kernel == "attention" and arguments["size"] == 4 and arguments["small_exponential"] is None:
        return False
    rule = arguments.get("requant", {"kind": 0})
    return bool(rule["kind"] == 0 or (rule["low"], rule["high"]) == (-128, 127))


def add(s: Shapes) -> Case:
    rows, columns = s.size(1, 64), s.size(8, 400)
    if s.rng.random() < 0.15:
        # A token's sums.
        return add_case(s.rng, 1, s.size(8, 128), "pulp", form="plain")
    form = s.pick("inner", "plain", "plain", "tflite", "one")
    kind = {"inner": "pulp", "tflite": "tflite", "plain": s.kind(), "one": "pulp"}[form]
    by_table = form == "one" or (form in ("inner", "plain") and s.flag() and kind != "none")
    broadcast = rows > 1 and s.rng.random() < 0.3
    return add_case(s.rng, rows, columns, kind, form=form, broadcast=broadcast, by_table=by_table)


def lookup_pairs(s: Shapes) -> Case:
    return lookup_pairs_case(s.rng, s.size(64, 16384))


def add_in_range(s: Shapes) -> Case:
    rows = s.size(1, 64)
    types = s.pick(("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8"))
    return add_in_range_case(s.rng, rows, s.size(8, 400), types, broadcast=rows > 1 and s.flag())


def add_pairs(s: Shapes) -> Case:
    rows, per_channel = s.pick(1, s.size(2, 128), s.size(2, 128)), s.flag()
    columns = s.size(4, 256, s.pick(1, 4, 4, 4)) if rows > 1 or per_channel else s.size(16, 16000)
    form = s.pick("alone", "kept", "scaled", "scaled", "twice")
    return add_pairs_case(s.rng, rows, columns, form, per_channel=per_channel, rare=True)


def mul(s: Shapes) -> Case:
    rows, columns = s.size(1, 64), s.size(8, 400)
    zero = s.pick(0, 0, 0, 3)
    return mul_case(s.rng, rows, columns, s.kind(), zero_points=(zero, 0), broadcast=rows > 1 and s.rng.random() < 0.3)


def qdq_mul(s: Shapes) -> Case:
    rows, columns = s.pick(1, s.size(1, 64)), s.size(8, 400)
    return qdq_mul_case(s.rng, rows, columns, broadcast=rows > 1 and s.flag())


def quantize(s: Shapes) -> Case:
    rows, apart = s.pick(1, 3, s.size(1, 16)), s.rng.random() < 0.3
    apart, repeated = (apart or rows == 3) and rows > 1, int(rows == 3 and s.flag())
    return quantize_case(s.rng, rows, s.size(64, 4000), apart=apart, repeated=repeated, sure=True)


def dequantize(s: Shapes) -> Case:
    return dequantize_case(s.rng, s.size(8, 8000))


def requantize(s: Shapes) -> Case:
    kind, columns = s.pick("pulp", "tflite", "shift", "shift_away", *KINDS), s.pick(s.size(2, 7), *[s.size(8, 400)] * 4)
    if kind in ("shift", "shift_away") or (kind == "half_up" and s.flag()):
        # What engines leave to the cores, of all pixels or of some.
        if s.rng.random() < 0.3:
            return thinned_case(s.rng, (s.size(2, 24), s.size(2, 24), 4 * s.size(1, 32)), (2, 2), kind)
        rows = s.pick(1, *[s.size(1, 200)] * 3)
        return requantize_case(s.rng, rows, 4 * s.size(1, 64), kind, dtype="int32", per_channel=True)
    if s.rng.random() < 0.3:
        return requantize_case(s.rng, s.size(1, 256), s.size(4, 96), "pulp", axis=s.pick(0, 1, 1), per_channel=True)
    return requantize_case(
        s.rng, s.size(1, 64), columns, kind, dtype=s.pick("int8", "int32", "int32"), per_channel=s.flag()
    )


def hardswish(s: Shapes) -> Case:
    return hardswish_case(s.rng, s.size(1, 64), s.size(8, 400), s.kind())


def gelu(s: Shapes) -> Case:
    return gelu_case(s.rng, s.size(1, 64), s.size(8, 400), s.kind())


def requantize_add(s: Shapes) -> Case:
    return requantize_add_case(s.rng, s.pick(1, s.size(1, 64)), 4 * s.size(1, 64))


def lookup(s: Shapes) -> Case:
    return lookup_case(s.rng, s.size(8, 16000))


def softmax(make: Callable[..., Case]) -> Callable[[Shapes], Case]:
    return lambda s: make(s.rng, s.pick(s.size(1, 8), s.size(1, 64)), s.size(8, 256))


def norm(make: Callable[..., Case]) -> Callable[[Shapes], Case]:
    def case(s: Shapes) -> Case:
        if s.rng.random() < 0.3:
            return make(s.rng, s.size(8, 96), s.size(16, 256, 4), reals=True)
        return make(s.rng, s.pick(1, s.size(1, 64)), s.size(8, 256), wide=s.pick(False, False, False, True))

    return case


def uniform_norm(s: Shapes) -> Case:
    if s.flag():
        return uniform_norm_case(s.rng, 1, s.pick(64, 128, 256, 512))
    return softmax(uniform_norm_case)(s)


def qdq_norm(s: Shapes) -> Case:
    form = s.pick("layer", "layer", "rms", "rms_quantized", "layer_quantized", "plain")
    columns = s.size(8, s.pick(256, 512), s.pick(1, 8, 8, 8))
    return qdq_norm_case(s.rng, s.pick(1, s.size(1, 64)), columns, form=form)


def add_accumulators(s: Shapes) -> Case:
    return add_accumulators_case(s.rng, s.size(8, 200), s.size(4, 64), s.pick("int8", "uint8", "int32"))


def settle(s: Shapes) -> Case:
    """Many elements, so that chance leaves every core about as many open."""
    size, depth = (s.size(6, 16), s.size(6, 16)), s.pick(0, 0, s.size(16, 64))
    share = s.pick(0.0, 0.002, 0.005, 0.01, 0.03)
    return settle_case(s.rng, size, 4 * s.size(16, 48), depth, open_share=share, below=True)


# Maker of a random call, and how many are measured.
MODELS: dict[str, tuple[Callable[[Shapes], Case], int]] = {
    "dense": (dense, 800),
    "long_dense": (long_dense, 160),
    "nibble_dense": (nibble_dense, 120),
    "matmul": (matmul, 500),
    "conv2d": (conv2d, 450),
    "depthwise_conv2d": (depthwise_conv2d, 600),
    "small_depthwise": (small_depthwise, 300),
    "add": (add, 300),
    "add_accumulators": (add_accumulators, 80),
    "add_in_range": (add_in_range, 60),
    "lookup_pairs": (lookup_pairs, 40),
    "mul": (mul, 120),
    "quantize": (quantize, 80),
    "dequantize": (dequantize, 40),
    "qdq_mul": (qdq_mul, 80),
    "requantize": (requantize, 360),
    "requantize_add": (requantize_add, 80),
    "requantize_add_sum": (lambda s: requantize_add_sum_case(s.rng, s.size(2, 64), 4 * s.size(1, 48)), 60),
    "requantize_add_table": (lambda s: requantize_add_table_case(s.rng, s.size(2, 64), 4 * s.size(1, 48)), 60),
    "requantize_sum": (lambda s: requantize_sum_case(s.rng, s.size(2, 64), 4 * s.size(1, 48), "int8", "int8"), 60),
    "requantize_table": (lambda s: requantize_table_case(s.rng, s.size(2, 64), 4 * s.size(1, 48), alike=s.flag()), 60),
    "bias_of_rest": (lambda s: bias_of_rest_case(s.rng, s.size(8, 600), 4 * s.pick(1, 1, 2, 3)), 60),
    "settle": (settle, 90),
    "hardswish": (hardswish, 90),
    "gelu": (gelu, 90),
    "lookup": (lookup, 40),
    "gate": (lambda s: gate_case(s.rng, s.size(8, 16000), rounded=True), 40),
    "i_softmax": (softmax(i_softmax_case), 80),
    "softmax_ita": (softmax(softmax_ita_case), 60),
    "softmax_table": (softmax(softmax_table_case), 60),
    "softmax_tflite": (softmax(softmax_tflite_case), 60),
    "rms_norm": (norm(rms_norm_case), 170),
    "uniform_norm": (uniform_norm, 120),
    "layer_norm": (norm(layer_norm_case), 170),
    "qdq_norm": (qdq_norm, 400),
    "group_norm": (lambda s: group_norm_case(s.rng, s.size(1, 32), s.pick(1, s.size(1, 8)), s.size(9, 150)), 48),
    "attention": (attention, 320),
    "attention_weights": (attention_weights, 200),
    "qdq_attention": (qdq_attention, 160),
    "past_qdq_attention": (past_qdq_attention, 160),
    "qdq_weights": (qdq_weights, 90),
    "row_sums": (row_sums, 40),
    "rope": (rope, 120),
    "rotary": (rotary, 60),
    "past_attention": (past_attention, 200),
    "past_scores": (past_part("past_scores"), 90),
    "past_mix": (past_part("past_mix"), 90),
    "past_mix_by_element": (past_part("past_mix_by_element"), 90),
    "value_groups": (value_groups, 60),
    "past_mean": (past_part("past_mean"), 60),
    "qdq_rope": (qdq_rope, 80),
    "max_pool": (lambda s: pool(s, average=False), 140),
    "avg_pool": (lambda s: pool(s, average=True), 80),
    "mean_pool": (mean_pool, 120),
    "transpose": (transpose, 100),
    "join_planes": (join_planes, 30),
    "copy_rows": (copy_rows, 100),
    "bit_planes": (bit_planes, 60),
    "im2col": (im2col, 160),
    "space_to_depth": (space_to_depth, 80),
    "to_blocks": (to_blocks, 80),
    "from_blocks": (from_blocks, 80),
    "resize": (resize, 120),
}
# Of kernels that the default machine does not have.
OTHER_MODELS: dict[str, tuple[Callable[[Shapes], Case], int]] = {"add_pairs": (add_pairs, 160)}
ALL_MODELS = {**MODELS, **OTHER_MODELS}


@dataclass(frozen=True)
class Sample:
    """Work of a random call, its cycles with warm and how many more with cold instruction caches."""

    work: Work
    cycles: int
    cold_cycles: int


def flat(arguments: Any, prefix: str = "") -> dict[str, Any]:
    """Arguments by field name, as `call_cost` takes them."""
    found: dict[str, Any] = {}
    for name, value in arguments.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found


# Stacks and what else is in L1 beside the operands.
_OF_CORES = 0x6000


def samples(kernel: str, seed: int, count: int, soc: Soc = SOC) -> Iterator[Sample]:
    """Random calls, measured."""
    make, shapes, made = ALL_MODELS[kernel][0], Shapes(seed), 0
    by_integers = family_of(soc.software.kernels).normalizes_by_integers
    while made < count:
        case, cores = make(shapes), shapes.pick(8, 8, 8, 1, 3)
        used = sum(v.nbytes for v in case.call.arguments.values() if isinstance(v, np.ndarray))
        # Attention that does not end in a full range is not worth a model of its own.
        if used > 120_000 or (kernel == "attention" and not typical(case)):
            continue
        scratch = case.call.arguments.get("scratch_stride", 0) * cores
        if used + case.expected.nbytes + scratch + _OF_CORES > soc.memory.l1.size:
            continue
        if case.call.arguments.get("real_weight") is not None and by_integers:
            continue
        made += 1
        measured = run_on_cluster(case.call, cores, folder=soc.software.kernels)
        warm = max(core["own_cycles"] for core in measured.cores)
        fields = {**flat(case.call.arguments), **case.call.expected}
        work = work_of(kernel, fields, cores, soc.software.kernels)
        yield Sample(work, warm, max(measured.first_cycles) - warm)


def errors(cycles: dict[str, float], data: list[Sample]) -> np.ndarray:
    """Relative errors of a model; work that the fit never saw does not count."""
    return np.array([sum(cycles.get(n, 0) * c for n, c in s.work.items()) / s.cycles - 1 for s in data])


def least_squares(rows: list[dict[str, float]], goals: list[float], kept: dict[str, float]) -> dict[str, float]:
    """Least squares of the relative error, without negative coefficients; those that are kept are not fitted."""
    names = sorted({name for row in rows for name in row if name not in kept})
    if not names:
        return kept
    matrix = np.array([[row.get(name, 0) / goal for name in names] for row, goal in zip(rows, goals, strict=True)])
    open_share = np.array(
        [1 - sum(kept.get(n, 0) * c for n, c in row.items()) / goal for row, goal in zip(rows, goals, strict=True)]
    )
    active = list(range(len(names)))
    while True:
        solution = np.linalg.lstsq(matrix[:, active], open_share, rcond=None)[0]
        negative = [a for a, value in zip(active, solution, strict=True) if value < 0]
        if not negative:
            break
        active.remove(min(negative, key=lambda a: solution[active.index(a)]))
    values = dict.fromkeys(names, 0.0)
    values.update({names[a]: round(float(v), 3) for a, v in zip(active, solution, strict=True)})
    return kept | values


def fit(kernel: str, count: int, *, keep: bool = False, soc: Soc = SOC) -> Fit:
    """Measure and fit one kernel."""
    kept = COEFFICIENTS[soc.software.core_type][kernel] if keep else Fit({}, {}, 0, 0)
    data = list(samples(kernel, 1, count, soc))
    seen, unseen = data[: 2 * count // 3], data[2 * count // 3 :]
    wrong = np.abs(errors(least_squares([s.work for s in seen], [s.cycles for s in seen], kept.cycles), unseen))
    cycles = least_squares([s.work for s in data], [s.cycles for s in data], kept.cycles)
    present = [{name: 1.0 for name, amount in s.work.items() if amount} for s in data]
    cold = least_squares(present, [max(1, s.cold_cycles) for s in data], kept.cold_cycles)
    return Fit(cycles, cold, round(float(np.median(wrong)), 3), round(float(wrong.max()), 3))


def entry(kernel: str, found: Fit) -> str:
    """One entry of the file."""

    def table(name: str, values: dict[str, float]) -> list[str]:
        return [f"    {name}:", *(f"      {unit}: {value}" for unit, value in sorted(values.items()))]

    errors_stated = [f"    median_error: {found.median_error}", f"    largest_error: {found.largest_error}", ""]
    tables = [*table("cycles", found.cycles), *table("cold_cycles", found.cold_cycles)]
    return "\n".join([f"  {kernel}:", *tables, *errors_stated])


def text_of(tables: dict[str, dict[str, Fit]]) -> str:
    """The file: core types with their kernels."""
    parts = [HEAD]
    for core_type, table in tables.items():
        parts += [f"{core_type}:\n", *(entry(kernel, table[kernel]) for kernel in ALL_MODELS if kernel in table)]
    return "".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--soc", default=SOC.name)
    parser.add_argument("kernels", nargs="*")
    options = parser.parse_args()
    soc = load(options.soc)
    known = [n for n in ALL_MODELS if n in available(soc.software.kernels) or (soc == SOC and n in MODELS)]
    unknown = [name for name in options.kernels if name not in known]
    if unknown:
        sys.stderr.write(f"there is no kernel '{unknown[0]}' to fit: {', '.join(known)}, or generated\n")
        return 2
    table = dict(COEFFICIENTS.get(soc.software.core_type, {}))
    measured = (SOC.cluster.cores, SOC.memory.l1.banks, SOC.icache.refill)
    if measured != (MEASURED_CORES, MEASURED_BANKS, MEASURED_REFILL):
        sys.stderr.write(f"tvm_pulp/soc/cost_model.py says that another machine is measured than {measured}\n")
        return 2
    for kernel in options.kernels or known:
        table[kernel] = fit(kernel, ALL_MODELS[kernel][1], keep=options.keep, soc=soc)
        stated = f"median error {table[kernel].median_error:.1%}, largest {table[kernel].largest_error:.1%}"
        sys.stderr.write(f"{kernel:16} {stated}\n")
    TARGET.write_text(text_of({**read_coefficients(), soc.software.core_type: table}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
