"""Findings of the checks of a debug build: `struct tvm_pulp_debug_report` of `c_runtime/debug`."""

import struct
from collections.abc import Callable

from tvm_pulp.errors import UserError, WrongLayer

SYMBOL = "tvm_pulp_debug_report"
_RIGHT, _OTHER_INPUT, _WRONG, _POINTER = 1, 2, 3, 4
_LONGEST_TEXT = 256

# Bytes of the program's memory, by address and count.
Read = Callable[[int, int], bytes]


def debug_text(read: Read, address: int, fault: str = "", pointer_bytes: int = 4) -> str:
    """One sentence where all is well; WrongLayer where it is not. `fault`: how the program ended."""
    form = f"<6I2{'I' if pointer_bytes == 4 else 'Q'}"
    state, checks, step, _, expected, found, layer, what = struct.unpack(form, read(address, struct.calcsize(form)))
    if state == _WRONG:
        end = f"; the program ended by {fault}" if fault else ""
        raise WrongLayer(
            f"layer '{_text(read, layer)}' is the first that is wrong: {_text(read, what)} (step {step} of the "
            f"program, checksum {found:#010x} instead of {expected:#010x}){end}"
        )
    if state == _POINTER:
        found_at = f"at {found:#010x}, which is no multiple of {expected} bytes" if found else "a null pointer"
        raise UserError(f"the caller's {_text(read, what)} is {found_at}: give the network memory as its header says")
    if state == _OTHER_INPUT:
        return f"not the sample input, so layers were not compared; all {checks} checks between buffers passed"
    return f"all {checks} checks of layers and of the bytes between buffers passed"


def _text(read: Read, address: int) -> str:
    """A text of the program that ends in a zero; nothing behind it is looked at."""
    found = b""
    while len(found) < _LONGEST_TEXT and (byte := read(address + len(found), 1)) != b"\0":
        found += byte
    return found.decode()
