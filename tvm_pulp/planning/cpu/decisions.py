"""Everything that may be decided about a network on a CPU by itself: the same decisions give the same bytes."""

from collections.abc import Mapping
from dataclasses import dataclass

from tvm_pulp.planning.program.cpu_plan_record import Strips


@dataclass(frozen=True)
class CpuDecisions:
    """Forms of layers by name, the first layers in strips, and parts of layers for threads.

    `parts` names the layers that come in several; None: the program knows no threads.
    """

    forms: Mapping[str, str]
    strips: Strips | None = None
    parts: Mapping[str, int] | None = None
