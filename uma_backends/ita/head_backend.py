"""The backend of ITAs that run whole heads of attention, and products as heads."""

from pathlib import Path
from typing import Any

from tvm_pulp.soc.cost_model import CostModel
from tvm_pulp.soc.description import Engine
from tvm_pulp.uma import Codegen, UMABackend, pattern_of
from uma_backends.ita.head_attention import PATTERNS, head_pattern, head_strategy
from uma_backends.ita.head_linear import head_linear_strategy
from uma_backends.ita.heads import HeadContext, Round
from uma_backends.ita.ita_form import ENGINE

_DRIVER = Path(__file__).parent / "driver"
PARAMETER = "head_engines"


class HeadBackend(UMABackend):
    """ITAs that run whole heads of attention, several at once.

    Hardware: up to four engines, each of which computes a head from projections to the projection of its output.
    Memories: operands of a head in one block, in L1 or L2; results in L1.
    Simulated: arithmetic exactly; time by an assumption, since nothing is published.
    """

    target_name = ENGINE
    default_soc = "itapool"

    def __init__(self) -> None:
        super().__init__()
        self._register_target_attr(
            "softmax",
            "exact",
            ("exact", "engine"),
            "engine: attention runs there although its softmax adds 256ths where the engines add 1024ths",
            inexact="engine",
        )
        self._register_relax_pass("pre_partition", _prepare)
        for name, inside in PATTERNS.items():
            self._register_pattern(name, lambda told=inside: head_pattern(**told))
            self._register_operator_strategy(name, head_strategy)
        self._register_pattern("dense", lambda: pattern_of("dense"))
        self._register_operator_strategy("dense", head_linear_strategy)
        files = [_DRIVER / name for name in ("ita_heads.c", "ita_heads.h", "ita_platform.h")]
        self._register_codegen(Codegen.of_driver("ita_heads", files, Round.words, word_fields=Round.fields))

    def why_not_carried(self, engine: Engine) -> str | None:
        if engine.queue == 1:
            return None
        return f"engines that run whole heads hold one each, not engines.{ENGINE}.queue {engine.queue}: set it to 1"

    def context(self, options: dict[str, Any], soc: Any, cores: int) -> HeadContext:
        return HeadContext(CostModel(soc, cores), soc.engines[ENGINE].parameters, options["softmax"])


def _prepare(module: Any) -> Any:
    """Heads as one tensor; a view of a view, which one head leaves behind, hides the projection behind it."""
    from tvm_pulp.canonicalize.drop_identity import DropIdentity
    from uma_backends.ita.joined_heads import JoinedHeads

    return DropIdentity().run(JoinedHeads().run(module))
