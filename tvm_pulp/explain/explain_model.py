"""`tvmc explain`: what the compiler makes of a model, why, and what would save most."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from tvm_pulp.api import CompileOptions, Model, decoder_request, import_model, module_name, plan_entries, with_state
from tvm_pulp.canonicalize.bounded_depth import bounded_depth
from tvm_pulp.errors import UserError

SUGGESTIONS = 3


def explain(
    model: Model, options: CompileOptions, stream: TextIO, onnx: Path | None = None, suggestions: int = SUGGESTIONS
) -> None:
    """Print layer by layer what the compiler makes of a model and why; draw it as ONNX, if wanted.

    At the end so many changes that would save most, each of them planned; 0 plans nothing more.
    """
    from tvm_pulp.canonicalize.integer_ends import possible_type
    from tvm_pulp.canonicalize.pipeline import canonicalize
    from tvm_pulp.explain import regions_onnx
    from tvm_pulp.explain.explain_nodes import explain_unsupported
    from tvm_pulp.explain.explain_plan import explain_plan, explain_source
    from tvm_pulp.explain.suggest_integer_ends import suggest_integer_ends
    from tvm_pulp.explain.suggestions import Base, print_suggestions, suggest
    from tvm_pulp.frontend.imported import UnsupportedOperators
    from tvm_pulp.planning.lowering import build_network
    from tvm_pulp.target import resolve_target

    target = resolve_target(options)
    if decoder_request(model, options) is not None:
        if onnx is not None:
            raise UserError("--onnx has no effect on a language model: drop it")
        for entry, lowered in plan_entries(model, options).items():
            stream.write(f"{entry}:\n")
            explain_plan(lowered.plan, stream)
        return
    try:
        imported = import_model(model, options)
    except UnsupportedOperators as error:
        explain_unsupported(error.nodes, stream)
        raise
    with bounded_depth():
        module, states = with_state(canonicalize(imported), options, target)
        module, name = target.prepare(module), module_name(options)
        network = build_network(module, imported, name, states)
    if target.soc.simulated:
        plan = target.plan_with_state(lambda placed: build_network(module, imported, name, placed), states, name).plan
        explain_plan(plan, stream)
        if options.io is None:
            suggest_integer_ends(plan, possible_type(imported), stream)
        drawn = regions_onnx.plan_model(plan) if onnx is not None else None
        # Decisions of another plan and caches that stay hold for the network as it is.
        if suggestions and options.plan is None and not options.state:
            print_suggestions(suggest(Base(model, options, imported, plan), suggestions), stream)
    else:
        explain_source(network, stream, imported.nodes)
        drawn = regions_onnx.network_model(target.on_host(network), {}) if onnx is not None else None
    if onnx is not None:
        regions_onnx.write_model(drawn, onnx)
