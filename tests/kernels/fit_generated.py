"""Fit the cycles of operations in generated kernels to the simulator.

Writes `tvm_pulp/planning/tiling/cost/operation_cycles.yaml`.

    scripts/fit_kernel_cycles generated              all of them
    scripts/fit_kernel_cycles generated --floats     what only float layers do; everything else stays
    scripts/fit_kernel_cycles generated --soc NAME   on another SoC than the default; integer networks only where its
                                                     cores have no float unit

Networks are compiled without hand-written kernels. A layer of one tile costs what it was measured with, less what the
estimate says about steps and transfers. Few layers tell operations apart that always come together, so the fit is
drawn a little towards the instructions that an operation needs at least.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx

from tests.golden.deeploy_cases import BIT_EXACT
from tests.kernels import float_graphs
from tests.kernels.call import REPOSITORY
from tests.simulated.golden_cases import DATA, deeploy_cases
from tests.simulated.single_convolution import Convolution
from tvm_pulp.api import App, Compilation, CompileOptions
from tvm_pulp.planning.estimate import estimate_program
from tvm_pulp.planning.program.actions import KernelAction, actions_of
from tvm_pulp.planning.tiling.cost.loop_cost import count_layer_operations
from tvm_pulp.planning.tiling.cost.operation_cycles import FILE, OperationCycles, all_operation_cycles
from tvm_pulp.planning.tiling.forms import cluster_forms
from tvm_pulp.soc import CostModel, load
from tvm_pulp.soc.catalog import DEFAULT

TARGET = REPOSITORY / "tvm_pulp/planning/tiling/cost" / FILE
# What an operation needs at least; how much a deviation from it counts beside the measurements.
LEAST = {
    "call": 60.0, "iteration": 3.0, "short_iteration": 0.5, "load": 1.5, "store": 1.0, "index": 0.5, "integer": 1.0,
    "multiply": 1.0, "constant_divide": 8.0, "divide": 34.0, "wide": 3.0, "wide_multiply": 8.0, "wide_divide": 200.0,
    "branch": 2.0, "compare": 3.0, "float": 1.0, "float_compare": 3.0, "float_divide": 12.0, "convert": 1.0,
}  # fmt: skip
LEAST_CALL = 60.0
WEIGHT = 0.05
# Fetching the code of an operation, about half a line.
CODE_CYCLES = 8.0
ZOO = ("dscnn", "mobilenetv1", "resnet8", "autoencoder", "vit_block", "tinyllama", "qdq_encoder", "qdq_llama")
HEAD = (
    "# Cycles of operations of generated kernels on one core, by core type; made by\n"
    "# scripts/fit_kernel_cycles generated.\n"
    "# call: entering a kernel, loading its arguments, dividing the work. code: fetching the code of one operation.\n"
)


@dataclass(frozen=True)
class Sample:
    """Operations of the slowest core, cycles of the kernel, and of the whole layer."""

    operations: dict[str, float]
    cycles: int
    layer_cycles: int


def networks(with_floats: bool) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Model, options and inputs: the zoo, and golden networks where they are at hand."""
    for name in ZOO:
        yield f"zoo:{name}", {}, None
    for case in deeploy_cases():
        if not with_floats and case not in BIT_EXACT:
            continue
        folder = DATA / "deeploy" / case
        inputs = dict(np.load(folder / "inputs.npz"))
        yield str(folder / "network.onnx"), {"sample_inputs": list(inputs.items())}, inputs
    for path in sorted(DATA.glob("mlperf_tiny/*/model.tflite")):
        yield str(path), {}, [np.load(path.parent / "golden.npz")["inputs"][0]]


WINDOWS: tuple[dict[str, int], ...] = ({}, {"dilation": 2}, {"stride": 2})
# What only float layers do.
FLOATS = {"float", "float_compare", "float_divide", "convert"} | {
    f"call_{n}" for n in (
        "divide", "erf", "exp", "exp_below", "fma", "fmax", "fmin", "fnma", "power", "quantize", "rsqrt", "sigmoid",
        "sqrt", "tanh",
    )
}  # fmt: skip


def window_networks(folder: Path) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Windows of quantize/dequantize graphs, some mostly outside their image."""
    for number, (size, kernel, more) in enumerate(product((2, 4, 7, 10, 16), (1, 3, 5), WINDOWS)):
        if kernel == 1 and more != WINDOWS[0]:
            continue
        path = folder / f"window_{number}.onnx"
        onnx.save(Convolution((kernel, kernel), (size, size), 16, 0, 16, 16, **more).network(), path)
        yield str(path), {}, None


def float_networks(folder: Path) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Model, options and inputs of float networks."""
    for number, model in enumerate(float_graphs.networks()):
        path = folder / f"{number}.onnx"
        onnx.save(model, path)
        yield str(path), {}, None


def samples(soc: str, model: str, options: dict[str, Any], inputs: Any) -> Iterator[Sample]:
    """Layers of one tile."""
    chosen = CompileOptions(target="c", soc=soc, planner="greedy", **options)
    compilation = Compilation(model, chosen)
    target, plan = compilation.target, compilation.plan
    app = App(compilation.entry.emitted)
    # What is expected is not known yet, and so how long is too long is not either.
    report, program = app.run(inputs, max_cycles=1 << 40).report, compilation.lowered.program
    costs, kernels = CostModel(target.soc, target.cores), [0] * len(plan.layers)
    expected = estimate_program(program, len(plan.layers), costs)
    for kernel in actions_of(program, KernelAction):
        kernels[kernel.layer] += kernel.cycles
    for index, (layer, measured) in enumerate(zip(plan.layers, report["layers"], strict=True)):
        if layer.tiling.form.name != "tiled" or len(layer.recipes) > 1:
            continue
        counted = count_layer_operations(layer.layer)
        iterations = max(1, counted.shared_iterations)
        share = -(-iterations // (plan.cores if layer.layer.parallel else 1)) / iterations
        around = expected.layer_cycles[index] - kernels[index]
        if measured["cycles"] > around:
            operations = {name: count * share for name, count in counted.executed.items()} | {"call": 1.0}
            yield Sample(operations, measured["cycles"] - around, measured["cycles"])


def fit(data: list[Sample], kept: dict[str, float]) -> dict[str, float]:
    """Least squares of the error relative to the layer, without negative results; what is kept is not fitted."""
    names = sorted({*LEAST, *(name for s in data for name in s.operations)} - set(kept))
    least = np.array([LEAST.get(name, LEAST_CALL) for name in names])
    matrix = np.array([[s.operations.get(name, 0) / s.layer_cycles for name in names] for s in data])
    known = [sum(kept.get(name, 0) * count for name, count in s.operations.items()) for s in data]
    goals = np.array([(s.cycles - k) / s.layer_cycles for s, k in zip(data, known, strict=True)])
    active = list(range(len(names)))
    while True:
        drawn = np.diag(WEIGHT / least[active])
        stacked = np.vstack([matrix[:, active], drawn])
        solution = np.linalg.lstsq(stacked, np.concatenate([goals, np.full(len(active), WEIGHT)]), rcond=None)[0]
        negative = [a for a, value in zip(active, solution, strict=True) if value < 0]
        if not negative:
            break
        active.remove(min(negative, key=lambda a: solution[active.index(a)]))
    values = dict.fromkeys(names, 0.0)
    values.update({names[a]: round(float(v), 2) for a, v in zip(active, solution, strict=True)})
    wrong = np.abs(matrix @ np.array([values[name] for name in names]) - goals)
    sys.stderr.write(f"{len(data)} layers, median error {np.median(wrong):.1%}, mean {wrong.mean():.1%}\n")
    return kept | values


def text_of(tables: dict[str, OperationCycles]) -> str:
    """The file: core types with what their operations take."""

    def table(name: str, values: dict[str, float]) -> list[str]:
        return [f"  {name}:", *(f"    {key}: {value}" for key, value in sorted(values.items()))]

    lines = []
    for core_type, found in tables.items():
        lines += [f"{core_type}:", f"  call: {found.call}", f"  code: {found.code}"]
        lines += [*table("operations", found.operations), *table("functions", found.functions)]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--floats", action="store_true")
    parser.add_argument("--soc", default=DEFAULT)
    options = parser.parse_args()
    cluster_forms.core_schedules = lambda: ()  # type: ignore[attr-defined]
    soc, data, tables = load(options.soc), [], dict(all_operation_cycles())
    kept: dict[str, float] = {}
    if options.floats:
        before = tables[soc.software.core_type]
        calls = {f"call_{n}": v for n, v in before.functions.items() if n != "other"}
        kept = {n: v for n, v in {**before.operations, **calls, "call": before.call}.items() if n not in FLOATS}
    with TemporaryDirectory() as folder:
        whole = networks(soc.cluster.isa.single_float)
        chosen = float_networks(Path(folder)) if options.floats else chain(whole, window_networks(Path(folder)))
        for model, more, inputs in chosen:
            data += samples(options.soc, model, more, inputs)
            sys.stderr.write(f"{model}: {len(data)} layers\n")
    values = fit(data, kept)
    functions = {n.removeprefix("call_"): v for n, v in values.items() if n.startswith("call_")}
    operations = {n: v for n, v in values.items() if n in LEAST and n != "call"}
    made = OperationCycles(values["call"], CODE_CYCLES, operations, {**functions, "other": LEAST_CALL})
    TARGET.write_text(text_of({**tables, soc.software.core_type: made}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
