"""The ways to run a convolution on NEUREKA, cheapest first."""

from __future__ import annotations

from tvm_pulp.errors import UserError
from uma_backends.neureka.lowering.convolution import Convolution, input_span, tile_of
from uma_backends.neureka.lowering.direct import Direct
from uma_backends.neureka.lowering.discard import Discard
from uma_backends.neureka.lowering.form import DEFAULT_COSTS, Costs, Form, Step
from uma_backends.neureka.lowering.gemm import Gemm
from uma_backends.neureka.lowering.im2col import Im2col
from uma_backends.neureka.lowering.kernel_rows import KernelRows
from uma_backends.neureka.lowering.stride_two_pairs import StrideTwoPairs

FORMS: tuple[type[Form], ...] = (Direct, Gemm, Discard, StrideTwoPairs, KernelRows, Im2col)

__all__ = [
    "DEFAULT_COSTS", "FORMS", "Convolution", "Costs", "Direct", "Discard", "Form", "Gemm", "Im2col", "KernelRows",
    "Step", "StrideTwoPairs", "input_span", "list_forms", "tile_of",
]  # fmt: skip


def list_forms(convolution: Convolution, costs: Costs = DEFAULT_COSTS) -> list[Form]:
    """Return every form that applies, by estimated cycles; empty where the cores must do it."""
    offers: list[Form] = []
    for form in FORMS:
        try:
            offer = form.offer(convolution, costs)
        except UserError:
            # The form exists but this tile breaks on a limit of the array; other forms or tiles may not.
            continue
        if offer is not None:
            offers.append(offer)
    return sorted(offers, key=lambda form: form.cycles)
