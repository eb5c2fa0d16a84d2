"""Patterns of attention: logits, softmax and values; with the moves of heads around them; with the values' projection.

Exporters write heads one behind the other, and transposes where they stand side by side. Views (reshapes) may stand
between a projection and its transpose.
"""

from __future__ import annotations

from typing import Any


def _op(name: str) -> Any:
    from tvm.relax.dpl import is_op

    return is_op(f"tvm_pulp.qnn.{name}")


def _projection(*, is_viewed: bool) -> Any:
    from tvm.relax.dpl import is_op, wildcard

    made = _op("dense")(varg_default_wildcard=True)
    return is_op("relax.reshape")(made, wildcard()) if is_viewed else made


def attention_pattern(*, are_moved: bool, is_moved_back: bool, has_values: bool) -> Any:
    """The pattern; heads of operands or of the result stand side by side where they are moved."""
    from tvm.relax.dpl import wildcard

    def operand(source: Any) -> Any:
        return _op("transpose")(source) if are_moved else source

    value = _projection(is_viewed=True) if has_values else wildcard()
    logits = _op("matmul")(operand(wildcard()), operand(wildcard()), wildcard(), wildcard())
    mixed = _op("matmul")(_op("softmax")(logits), operand(value), wildcard(), wildcard())
    return _op("transpose")(mixed) if is_moved_back else mixed


# Name of a pattern, and what is inside.
PATTERNS: dict[str, dict[str, bool]] = {
    "octave_attention": {"are_moved": False, "is_moved_back": False, "has_values": False},
    "octave_attention_heads": {"are_moved": True, "is_moved_back": True, "has_values": False},
    "octave_attention_heads_in": {"are_moved": True, "is_moved_back": False, "has_values": False},
    "octave_value_attention": {"are_moved": False, "is_moved_back": False, "has_values": True},
    "octave_value_attention_heads": {"are_moved": True, "is_moved_back": True, "has_values": True},
}
