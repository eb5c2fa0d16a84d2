"""The ITA backend: patterns, strategies, code generation."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.soc.description import Engine
from tvm_pulp.uma import Codegen, UMABackend, pattern_of
from uma_backends.ita.attention import attention_strategy
from uma_backends.ita.attention_patterns import PATTERNS, attention_pattern
from uma_backends.ita.command import command_fields, command_words
from uma_backends.ita.dense import dense_activation_strategy, dense_strategy
from uma_backends.ita.dense_transposed import dense_transposed_strategy
from uma_backends.ita.head_backend import PARAMETER, HeadBackend
from uma_backends.ita.ita_form import ENGINE, ItaContext
from uma_backends.ita.matmul import matmul_strategy
from uma_backends.ita.refused_attention import PARTS, REASONS, refused_pattern, refused_strategy

_FOLDER = Path(__file__).parent
# As SoCs carry it whose engines run whole heads.
_HEADS = HeadBackend()
# Jobs that the engine holds where its parameters do not say.
CONTEXTS = 4


class ItaBackend(UMABackend):
    """ITA, the integer transformer accelerator.

    Hardware: 16 dot products of 64 bytes, tiles of 64x64x64, streaming softmax, GELU and ReLU behind products.
    Memories: everything in L1, matrices as panels of 64 columns.
    Simulated: arithmetic exactly, time beat by beat, with others that want the banks of L1.
    """

    target_name = ENGINE
    default_soc = "snitch-ita"

    def __init__(self) -> None:
        super().__init__()
        self._register_relax_pass("pre_partition", _prepare, for_soc=True)
        offered: dict[str, tuple[Any, Any]] = {
            "dense": (lambda: pattern_of("dense"), dense_strategy),
            "dense_activation": (lambda: pattern_of("lookup", pattern_of("dense"), None), dense_activation_strategy),
            "dense_transposed": (
                lambda: pattern_of("transpose", pattern_of("relax.reshape", pattern_of("dense"), None)),
                dense_transposed_strategy,
            ),
            "matmul": (lambda: pattern_of("matmul"), matmul_strategy),
            **{n: (lambda inside=i: attention_pattern(**inside), attention_strategy) for n, i in PATTERNS.items()},
            **{n: (lambda name=n: refused_pattern(name), refused_strategy) for n in (*REASONS, *PARTS)},
        }
        for name, (pattern, strategy) in offered.items():
            self._register_pattern(name, pattern)
            self._register_operator_strategy(name, strategy)
        files = [_FOLDER / "driver" / name for name in ("ita.c", "ita.h", "ita_platform.h")]
        self._register_codegen(Codegen.of_driver("ita", files, command_words, word_fields=command_fields))

    @property
    def variants(self) -> tuple[UMABackend, ...]:
        return (_HEADS,)

    def variant(self, engine: Engine) -> UMABackend:
        return _HEADS if engine.parameters.get(PARAMETER) else self

    def why_not_carried(self, engine: Engine) -> str | None:
        contexts = engine.parameters.get("contexts", CONTEXTS)
        if engine.queue >= contexts:
            return None
        return f"the engine holds {contexts} jobs, not engines.{ENGINE}.queue {engine.queue}: set it to {contexts}"

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> ItaContext:
        return ItaContext(CostModel(soc, cores))


def _prepare(module: Any, soc: Any, _options: Mapping[str, Any]) -> Any:
    """The network as the engine wants it; passes need TVM, so they are loaded on demand."""
    from tvm_pulp.canonicalize.drop_identity import DropIdentity
    from uma_backends.ita.negated_tables import NegatedTables
    from uma_backends.ita.parted_attention import PartedAttention
    from uma_backends.ita.parted_polynomial_attention import PartedPolynomialAttention
    from uma_backends.ita.products_of_windows import ProductsOfWindows
    from uma_backends.ita.signed_operands import SignedOperands
    from uma_backends.ita.signed_probabilities import SignedProbabilities
    from uma_backends.ita.transposed_values import TransposedValues

    parted = (PartedAttention(), PartedPolynomialAttention())
    by_digits = not soc.cluster.isa.xpulp
    products = (SignedOperands(by_digits=by_digits), ProductsOfWindows(by_digits=by_digits))
    steps = (*parted, *products, NegatedTables(), SignedProbabilities(), TransposedValues())
    # A view of a view, which one head leaves behind, hides the projection behind it: dropped last.
    for step in (*steps, DropIdentity()):
        module = step.run(module)
    return module
