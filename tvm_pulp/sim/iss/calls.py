"""Calls of a run: followed by the simulator, shown as a log or as a profile that speedscope opens."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from tvm_pulp.sim.iss.library import CAUSES, ENTER, LEAVE, CallNode, library
from tvm_pulp.sim.iss.machine import Machine

# The function whose callees are the tiles of layers: the executor of c_runtime/hal.
TILE_CALLER = "tvm_pulp_execute"
_NO_FUNCTION = 0xFFFFFFFF


def follow_calls(machine: Machine, *, logged: bool) -> None:
    """Let the simulator follow calls; the machine must observe and hold its program."""
    code = machine.elf.code
    starts = (ctypes.c_uint32 * len(code))(*(address for address, _ in code))
    caller = next((number for number, (_, name) in enumerate(code) if name == TILE_CALLER), _NO_FUNCTION)
    if library().iss_follow_calls(machine.handle, starts, len(code), caller, int(logged)):
        raise RuntimeError("the simulator cannot follow calls")


def function_name(machine: Machine, number: int) -> str:
    """Of the program's list of functions."""
    code = machine.elf.code
    return code[number][1] if number < len(code) else "?"


def call_log(machine: Machine, write: Callable[[str], Any]) -> Callable[[np.ndarray], None]:
    """A consumer of the stream that writes one line per call and return."""

    def consume(records: np.ndarray) -> None:
        lines = []
        for span in records["span"][np.isin(records["span"]["kind"], (ENTER, LEAVE))]:
            depth, function = divmod(int(span["amount"]), 1 << 32)
            arrow = "->" if span["kind"] == ENTER else "<-"
            name = f"{'  ' * depth}{arrow} {function_name(machine, function)}"
            lines.append(f"{int(span['start']):>12} {machine.soc.core_name(int(span['track'])):<10} {name}\n")
        write("".join(lines))

    return consume


def cause_names() -> list[str]:
    """Names of the causes that cycles are spent on, in the simulator's order."""
    return [library().iss_cause_name(number).decode().replace("_", " ") for number in range(CAUSES)]


def speedscope(machine: Machine, name: str) -> dict[str, Any]:
    """One profile per core: stacks of functions, on top the cause of their cycles; weights are cycles of the core."""
    nodes_pointer = ctypes.POINTER(CallNode)()
    count = library().iss_call_nodes(machine.handle, ctypes.byref(nodes_pointer))
    nodes = nodes_pointer[:count]
    causes = cause_names()
    frames = [function for _, function in machine.elf.code] + ["?"] + [f"({cause})" for cause in causes]
    unknown, first_cause, cores = len(machine.elf.code), len(machine.elf.code) + 1, machine.soc.cluster.cores + 1
    cores -= machine.soc.cluster.kind.tiles  # which have no core behind those that compute
    stacks: list[list[int]] = []
    roots: list[int] = []
    samples: list[list[list[int]]] = [[] for _ in range(cores)]
    weights: list[list[int]] = [[] for _ in range(cores)]
    for number, node in enumerate(nodes):
        is_root = number < cores
        roots.append(number if is_root else roots[node.parent])
        stacks.append([] if is_root else [*stacks[node.parent], min(node.function, unknown)])
        for cause, cycles in enumerate(node.cycles):
            if cycles:
                samples[roots[-1]].append([*stacks[-1], first_cause + cause])
                weights[roots[-1]].append(int(cycles))
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": name,
        "exporter": "tvm_pulp",
        "shared": {"frames": [{"name": frame} for frame in frames]},
        "profiles": [
            {
                "type": "sampled",
                "name": machine.soc.core_name(core),
                "unit": "none",
                "startValue": 0,
                "endValue": sum(weights[core]),
                "samples": samples[core],
                "weights": weights[core],
            }
            for core in range(machine.soc.all_cores)
        ],
    }
