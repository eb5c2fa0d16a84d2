"""`tvmc explain`: what the compiler makes of a model, why, and what would save most."""

from pathlib import Path
from typing import TextIO

from tvm_pulp.compilation import Compilation, Model
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.errors import refuse_if
from tvm_pulp.explain import regions_onnx
from tvm_pulp.explain.explain_cpu_plan import explain_cpu_plan
from tvm_pulp.explain.explain_nodes import explain_unsupported
from tvm_pulp.explain.explain_plan import explain_plan
from tvm_pulp.explain.lost_cycles import print_lost_cycles
from tvm_pulp.explain.suggestions import print_suggestions, suggest
from tvm_pulp.explain.suggestions.integer_ends import print_integer_ends
from tvm_pulp.frontend.imported import UnsupportedOperators
from tvm_pulp.output_files import write_output
from tvm_pulp.planning.cpu import CpuPlan, LoweredCpuPlan

SUGGESTIONS = 3


def explain(
    model: Model, options: CompileOptions, stream: TextIO, onnx: Path | None = None, suggestions: int = SUGGESTIONS
) -> None:
    """Print layer by layer what the compiler makes of a model and why; draw it as ONNX, if wanted.

    At the end so many changes that would save most, each of them planned; 0 plans nothing more.
    """
    compilation = Compilation(model, options)
    if compilation.language_model is not None:
        refuse_if(onnx is not None, "--onnx has no effect on a language model: drop it")
        for entry, lowered in compilation.plans.items():
            stream.write(f"{entry}:\n")
            if isinstance(lowered, LoweredCpuPlan):
                explain_cpu_plan(lowered.plan, stream)
            else:
                explain_plan(lowered.plan, stream)
        return
    try:
        imported = compilation.imported
    except UnsupportedOperators as error:
        explain_unsupported(error.nodes, stream)
        raise
    plan = compilation.plan
    if isinstance(plan, CpuPlan):
        explain_cpu_plan(plan, stream, imported.nodes)
    else:
        explain_plan(plan, stream)
        print_lost_cycles(plan, imported.nodes, stream)
        print_integer_ends(compilation, stream)
        # Decisions of another plan and caches that stay hold for the network as it is.
        if suggestions and options.plan is None and not options.state:
            print_suggestions(suggest(compilation, suggestions), stream)
    if onnx is not None:
        drawn = regions_onnx.cpu_plan_model(plan) if isinstance(plan, CpuPlan) else regions_onnx.plan_model(plan)
        write_output(onnx, drawn.SerializeToString())
