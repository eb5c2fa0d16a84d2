"""Plans what could be different, and keeps what saves most."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TextIO

from tvm_pulp.compilation import Compilation
from tvm_pulp.errors import UserError
from tvm_pulp.explain.suggestions.activations import plain_activations, symmetric_activations
from tvm_pulp.explain.suggestions.base import Change, plan_of
from tvm_pulp.explain.suggestions.four_bit_weights import four_bit_weights
from tvm_pulp.explain.suggestions.inexact_rounding import inexact_rounding
from tvm_pulp.explain.suggestions.integer_ends import integer_ends
from tvm_pulp.explain.suggestions.last_softmax import last_softmax
from tvm_pulp.explain.suggestions.quantized_model import quantized_model
from tvm_pulp.explain.suggestions.separable_convolution import separable_convolution
from tvm_pulp.explain.suggestions.smaller_kernels import smaller_kernels

CHANGES: tuple[Callable[[Compilation], Change | None], ...] = (
    quantized_model,
    inexact_rounding,
    four_bit_weights,
    integer_ends,
    symmetric_activations,
    plain_activations,
    last_softmax,
    smaller_kernels,
    separable_convolution,
    partial(separable_convolution, rank=1),
    partial(separable_convolution, rank=2),
)
# A change that cannot save this part of the cycles is not planned, and one that does not is not mentioned.
_WORTH = 0.01
# Changes that are planned at most.
_MOST_PLANS = 3


@dataclass(frozen=True)
class Suggestion:
    """A change and what it is expected to save."""

    name: str
    advice: str
    saved_cycles: int
    # Of the network as it is, by the planner that the saving was found with.
    base_cycles: int


def suggest(base: Compilation, count: int) -> list[Suggestion]:
    """Those that save most first; at most so many. What cannot save more than those found is not planned."""
    least = _WORTH * plan_of(base).estimated_cycles
    known = [change for change in (offer(base) for offer in CHANGES) if change is not None]
    worth = sorted((c for c in known if c.bound_cycles > least), key=lambda c: -c.bound_cycles)[:_MOST_PLANS]
    options = base.options
    if worth and options.planner is None:
        # Rough plans are compared with each other: all of them take less than writing the archive.
        base = base.varied(options=replace(options, effort="rough"))
    before = plan_of(base).estimated_cycles
    found: list[Suggestion] = []
    for change in worth:
        if len(found) >= count and change.bound_cycles <= found[count - 1].saved_cycles:
            break
        try:
            saved = before - plan_of(change.apply(base)).estimated_cycles
        except UserError:
            continue  # what it would become does not fit
        if saved > _WORTH * before:
            found.append(Suggestion(change.name, change.advice, saved, before))
            found.sort(key=lambda suggestion: -suggestion.saved_cycles)
    return found[:count]


def print_suggestions(suggestions: list[Suggestion], stream: TextIO) -> None:
    if not suggestions:
        print(
            "no change of the model or its quantization that was planned saves one percent of the cycles", file=stream
        )
        return
    print("what would save most, each change planned by itself:", file=stream)
    for number, made in enumerate(suggestions, start=1):
        share = 100 * made.saved_cycles / max(1, made.base_cycles)
        print(f"  {number}. about {made.saved_cycles:,} cycles ({share:.0f} %): {made.advice}", file=stream)
