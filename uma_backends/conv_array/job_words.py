"""Words of an array's job as C expressions."""

from collections.abc import Callable
from typing import Any

from uma_backends.conv_array.array_description import ArrayDescription


def pointers(
    d: ArrayDescription, address: Callable[[Any], str], weight_memory: tuple[int, str] | None = None
) -> list[str]:
    """The addresses of weights, input, output, scale, shift and bias; empty for what a job does not have.

    `weight_memory`: where weights lie that have a memory of their own, and what makes their address an offset in it.
    """
    found = []
    for index, pointer in enumerate((d.weights, d.input, d.output, d.scale, d.shift, d.bias)):
        if pointer is None:
            found.append("")
            continue
        # What must be added: padding, the weight-memory base.
        offset, place = d.words[index] + pointer.offset, address(pointer.operand)
        if index == 0 and weight_memory is not None:
            offset, place = offset + weight_memory[0], f"{weight_memory[1]}({place})"
        signed = (offset + (1 << 31)) % (1 << 32) - (1 << 31)
        found.append(f"{place} {'-' if signed < 0 else '+'} {abs(signed)}u" if signed else place)
    return found


def word_text(name: str, word: int) -> str:
    """A register's value: strides as numbers, fields as digits."""
    return f"{word}u" if name[:-1].endswith("_D") else f"0x{word:x}u"
