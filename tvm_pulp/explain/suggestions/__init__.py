"""Which changes of a model or its quantization would save most, each of them planned."""

from tvm_pulp.explain.suggestions.suggest import Suggestion, print_suggestions, suggest

__all__ = ["Suggestion", "print_suggestions", "suggest"]
