"""Functions that a model defines for itself are replaced by their bodies."""

from typing import Any

from tvm_pulp.errors import UserError

_Key = tuple[str, str]
# Standard operators that ONNX itself defines by others and that no converter knows.
_DEFINED = ("Attention", "RotaryEmbedding", "Celu", "CenterCropPad", "MeanVarianceNormalization", "Shrink")


def inline_functions(model: Any) -> Any:
    """The model without functions of its own; one that calls itself is a user error."""
    if not model.functions:
        return model
    bodies: dict[_Key, Any] = {(f.domain, f.name): f for f in model.functions}
    done: set[_Key] = set()
    for key in bodies:
        _check_calls(key, bodies, [], done)
    from onnx import inliner

    try:
        return inliner.inline_local_functions(model)
    except Exception as error:  # the inliner reports malformed bodies in many classes
        reason = " ".join(str(error).split())[:200]
        raise UserError(
            f"the model's own functions cannot be inlined ({reason}): export it without functions"
        ) from None


def inline_standard_functions(model: Any) -> Any:
    """The model with newer standard operators replaced by what ONNX defines them to be."""
    wanted = {n.op_type for n in model.graph.node if n.op_type in _DEFINED and n.domain in ("", "ai.onnx")}
    if not wanted:
        return model
    from onnx import inliner

    try:
        return inliner.inline_selected_functions(model, [("", op) for op in sorted(wanted)], False, True)
    except Exception:  # malformed nodes; the importer names them
        return model


def _check_calls(key: _Key, bodies: dict[_Key, Any], callers: list[_Key], done: set[_Key]) -> None:
    if key in done or key not in bodies:
        return
    if key in callers or len(callers) > 64:
        raise UserError(f"the model's function '{key[1]}' calls itself: export the model without functions")
    for node in bodies[key].node:
        _check_calls((node.domain, node.op_type), bodies, [*callers, key], done)
    done.add(key)
