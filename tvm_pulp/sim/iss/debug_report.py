"""Findings of the checks of a debug build: `struct tvm_pulp_debug_report` of `c_runtime/debug`."""

import struct

from tvm_pulp.errors import WrongLayer
from tvm_pulp.sim.iss.machine import Machine

_RIGHT, _OTHER_INPUT, _WRONG = 1, 2, 3
_LONGEST_TEXT = 256


def debug_text(machine: Machine, fault: str = "") -> str:
    """One sentence where all is well; WrongLayer where it is not. `fault`: how the program ended."""
    data = machine.read(machine.symbol("tvm_pulp_debug_report"), 32)
    state, checks, step, _, expected, found, layer, what = struct.unpack("<8I", data)
    if state == _WRONG:
        end = f"; the program ended by {fault}" if fault else ""
        raise WrongLayer(
            f"layer '{_text(machine, layer)}' is the first that is wrong: {_text(machine, what)} (step {step} of the "
            f"program, checksum {found:#010x} instead of {expected:#010x}){end}"
        )
    if state == _OTHER_INPUT:
        return f"not the sample input, so layers were not compared; all {checks} checks between buffers passed"
    return f"all {checks} checks of layers and of the bytes between buffers passed"


def _text(machine: Machine, address: int) -> str:
    """A text of the program that ends in a zero."""
    return machine.read(address, _LONGEST_TEXT).split(b"\0")[0].decode()
