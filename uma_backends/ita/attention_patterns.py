"""Patterns of attention: logits, softmax and values; with the moves of heads around them; with projections before them.

Exporters write heads one behind the other, and transposes where they stand side by side. Views (reshapes) may stand
between a projection and its transpose.
"""

from typing import Any

from tvm_pulp.uma import pattern_of


def attention_pattern(*, moved: str, is_moved_back: bool, projects: str) -> Any:
    """The pattern; heads of operands or of the result stand side by side where they are moved.

    `moved` names operands that are, `projects` those whose projections are inside: of "qkv".
    """

    def operand(name: str) -> Any:
        source = pattern_of("relax.reshape", pattern_of("dense"), None) if name in projects else None
        return pattern_of("transpose", source) if name in moved else source

    logits = pattern_of("matmul", operand("q"), operand("k"), None, None)
    mixed = pattern_of("matmul", pattern_of("softmax", logits), operand("v"), None, None)
    return pattern_of("transpose", mixed) if is_moved_back else mixed


# Name of a pattern, and what is inside.
PATTERNS: dict[str, dict[str, Any]] = {
    "octave_attention": {"moved": "", "is_moved_back": False, "projects": ""},
    "octave_attention_heads": {"moved": "qkv", "is_moved_back": True, "projects": ""},
    "octave_attention_heads_in": {"moved": "qkv", "is_moved_back": False, "projects": ""},
    # Values that a projection made transposed.
    "octave_transposed_attention": {"moved": "qk", "is_moved_back": False, "projects": ""},
    "octave_transposed_attention_heads": {"moved": "qk", "is_moved_back": True, "projects": ""},
    "octave_value_attention": {"moved": "", "is_moved_back": False, "projects": "v"},
    "octave_value_attention_heads": {"moved": "qkv", "is_moved_back": True, "projects": "v"},
    "octave_self_attention": {"moved": "", "is_moved_back": False, "projects": "qkv"},
    "octave_self_attention_heads": {"moved": "qkv", "is_moved_back": True, "projects": "qkv"},
}
