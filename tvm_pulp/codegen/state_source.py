"""State of a network in C: caches in L1 that steps use where they lie, rows of caches in L3 that come to L2."""

from collections.abc import Collection, Sequence

from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.codegen.model_text import c_identifier
from tvm_pulp.codegen.table_addresses import TableAddresses
from tvm_pulp.planning.program.actions import Step
from tvm_pulp.planning.program.executor_limits import TICKETS
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tir.statements import FetchBytes
from tvm_pulp.qnn.network import Network, State, Tensor


def fetched_inputs(plan: Plan) -> list[Tensor]:
    """Caches that lie in L3."""
    return [f.tensor for f in plan.schedule.fetches if f.tensor.kind == "input"]


def elements(network: Network, state: State) -> int:
    """Elements of a cache."""
    return network.inputs[state.past].spec.elements + network.outputs[state.present].spec.elements


def appends_itself(state: State) -> bool:
    """Tell if a network puts new rows where they belong; else its caller does, once it has returned."""
    return state.level == "l2" or (state.level == "l1" and bool(state.length))


def l3_symbol(name: str) -> str:
    """The macro that tells where in L3 the state of a network or of a language model begins."""
    return f"TVMGEN_{name.upper()}_L3_STATE"


def state_interface(network: Network, l3_bytes: int) -> list[str]:
    """Declarations of caches that do not lie in L2; those of a language model have a header of their own."""
    lines = []
    for state in network.states:
        if state.length is not None and state.level == "l1":
            kind = c_type(network.inputs[state.past].spec.dtype)
            lines.append(f"extern {kind} {state.symbol}[{elements(network, state)}];")
    if any(s.length is not None and s.level == "l3" for s in network.states):
        symbol, first = l3_symbol(network.name), l3_bytes - network.state_bytes("l3")
        lines += [f"#ifndef {symbol}", f"#define {symbol} {first}u", "#endif"]
    return ["/* Where caches lie. */", *lines, ""] if lines else []


def state_contract(network: Network) -> str:
    """Advice to callers about caches; empty where there are none, or entry points around the network care."""
    states = [s for s in network.states if s.length is not None]
    if not states:
        return ""
    level = states[0].level
    rows = "an output of new rows points behind the past's rows in the same buffer"
    if level == "l1":
        rows = "they are the variables below, in L1, and no other code may use them"
    elif level == "l3":
        rows = f"an input of a past is its place in L3, the first of them {l3_symbol(network.name)}"
    appended = (
        "the network appends new rows" if all(appends_itself(s) for s in states) else "the caller appends new rows"
    )
    return f"Caches: {rows}; {appended}."


def state_declarations(network: Network) -> list[str]:
    """Buffers in L1: a network's own, or those of the entry points around it."""
    lines = []
    for symbol in dict.fromkeys(s.symbol for s in network.states if s.symbol):
        mine = [s for s in network.states if s.symbol == symbol]
        kind = c_type(network.inputs[mine[0].past].spec.dtype)
        if mine[0].length is None:
            lines.append(f"extern {kind} {symbol}[];")
        else:
            lines.append(f"TVM_PULP_IN_L1 __attribute__((aligned(16))) {kind} {symbol}[{elements(network, mine[0])}];")
    return ["/* Caches. */", *lines, ""] if lines else []


class StateRows:
    """Transfers of rows from L3: commands know their number only at run time, so that a function issues them.

    It is called as an engine's driver is, with a ticket that no job has.
    """

    def __init__(self, addresses: TableAddresses, program: Sequence[Step], taken: Collection[int]) -> None:
        self._addresses = addresses
        self._made = [a for step in program for a in step.actions if isinstance(a, FetchBytes) and a.state]
        free = [ticket for ticket in range(TICKETS) if ticket not in taken]
        if self._made and not free:
            raise RuntimeError("jobs have all tickets, and rows of a cache come from L3")
        self.ticket = free[-1] if free else 0

    def symbol(self, made: FetchBytes) -> str:
        """The structure that `load_rows` is told."""
        return f"rows_of_{c_identifier(made.state)}"

    def definitions(self) -> list[str]:
        if not self._made:
            return []
        lines = ["/* Rows of a cache in L3, and where they go in L2; `bytes` of one row, or of all. */"]
        lines += ["struct rows_in_l3 {", "  uint32_t to, base, bytes;", "  int32_t counter;", "};"]
        for symbol, made in {self.symbol(made): made for made in self._made}.items():
            size = made.row if made.counter else made.writes[0].bytes
            base = f"BASE_{c_identifier(made.state)}"
            told = f"BASE_{c_identifier(made.counter)}" if made.counter else "-1"
            to = self._addresses.fetched(made)
            lines.append(f"static const struct rows_in_l3 {symbol} = {{{to}, {base}, {size}u, {told}}};")
        return [
            *lines,
            "",
            "static uint32_t load_rows(const void *which) {",
            "  const struct rows_in_l3 *rows = which;",
            "  const uint32_t count = rows->counter < 0 ? 1u : *(const uint32_t *)POINTER(bases[rows->counter]);",
            "  if (count != 0u) tvm_pulp_l3_load(POINTER(rows->to), bases[rows->base], count * rows->bytes);",
            "  return 0;",
            "}",
            "",
        ]
