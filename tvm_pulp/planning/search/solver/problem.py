"""The question to the solver, and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tvm_pulp.planning.search.solver.candidates import Candidate
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.soc.cost_model import CostModel


@dataclass(frozen=True)
class SolverProblem:
    """All that the solver needs to know. `same_as[i]`: the earlier layer whose decisions layer i shares."""

    network: Network
    candidates: Sequence[Sequence[Candidate]]
    l1_bytes: Sequence[int]  # while each layer runs
    overlap: bool
    costs: CostModel
    same_as: Mapping[int, int] = field(default_factory=dict)
    # Cycles by which a candidate of a layer was found to differ from its model.
    corrections: Mapping[tuple[int, int], int] = field(default_factory=dict)
    # L2 for constants that are large enough for L3; None where all fit.
    l2_bytes: int | None = None


@dataclass(frozen=True)
class Solution:
    """Decisions by layer, and how good the solver knows them to be."""

    candidates: tuple[int, ...]
    resident: dict[Tensor, frozenset[int]]
    ahead: tuple[int, ...]  # layers by which constants are fetched ahead
    in_l3: tuple[bool, ...]  # large constants of a layer
    cycles: tuple[int, ...] = ()
    status: str = ""
    objective: int = 0
    bound: int = 0
    deterministic_time: float = 0.0
    seconds: float = 0.0

    def same_as(self, others: "Sequence[Solution]") -> bool:
        """Tell if one of the others decides the same."""
        mine = (self.candidates, self.resident, self.ahead, self.in_l3)
        return any(mine == (o.candidates, o.resident, o.ahead, o.in_l3) for o in others)
