"""Einsum as the transposes, reshapes, products and sums that it stands for.

Operands are joined from left to right. Of every two, labels that nobody else needs are summed by a matrix product:

    bhid,bhjd->bhij    becomes    reshape(matmul([b h, i, d], [b h, d, j])), transposed where the order differs
"""

import math
import re
from collections import Counter
from dataclasses import dataclass
from string import ascii_letters
from typing import Any

import numpy as np
from tvm import relax

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.onnx_conversion import Conversion


@dataclass(frozen=True)
class _Term:
    """A tensor, and a label and a size for each of its axes."""

    value: Any
    labels: str
    sizes: dict[str, int]

    def shape(self, labels: str) -> list[int]:
        return [self.sizes[n] for n in labels]

    def elements(self, labels: str) -> int:
        return math.prod(self.shape(labels))


def einsum(c: Conversion) -> Any:
    terms, result = _terms(c)
    joined = _simple(c, terms[0], result + "".join(t.labels for t in terms[1:]))
    for n, term in enumerate(terms[1:], 2):
        later = result + "".join(t.labels for t in terms[n:])
        joined = _product(c, joined, _simple(c, term, joined.labels + later), later)
    joined = _simple(c, joined, result)
    return _ordered(c, joined, result)


def _terms(c: Conversion) -> tuple[list[_Term], str]:
    """The operands, and the labels of the result; an ellipsis stands for labels that the equation does not use."""
    equation = re.sub(r"\s", "", c.text("equation", ""))
    left, arrow, right = equation.partition("->")
    parts, shapes = left.split(","), [c.shape(n) for n in range(len(c.inputs))]
    refuse_if(len(parts) != len(shapes), f"equation '{equation}' does not name {len(shapes)} operands")
    unused = [n for n in ascii_letters if n not in equation]
    hidden = max(
        (len(s) - len(p.replace("...", "")) for p, s in zip(parts, shapes, strict=True) if "..." in p), default=0
    )
    refuse_if(not 0 <= hidden <= len(unused), f"equation '{equation}' does not fit its operands")
    names, terms = "".join(unused[:hidden]), []
    sizes: dict[str, int] = {}
    for n, (part, shape) in enumerate(zip(parts, shapes, strict=True)):
        more = len(shape) - len(part.replace("...", ""))
        labels = part.replace("...", names[hidden - more :] if more > 0 else "")
        if len(labels) != len(shape) or (not labels.isalpha() and labels):
            raise UserError(f"equation '{equation}': '{part}' does not fit an operand of shape {shape}")
        for name, size in zip(labels, shape, strict=True):
            refuse_if(
                sizes.setdefault(name, size) != size,
                f"equation '{equation}': '{name}' has sizes {sizes[name]} and {size}: repeat the smaller with Expand",
            )
        terms.append(_Term(c.inputs[n], labels, sizes))
    if arrow:
        result = right.replace("...", names)
    else:
        counted = Counter("".join(parts).replace(".", ""))
        result = names + "".join(sorted(name for name, times in counted.items() if times == 1))
    refuse_if(
        any(n not in sizes for n in result) or len(set(result)) < len(result), f"equation '{equation}' is not valid"
    )
    return terms, result


def _simple(c: Conversion, term: _Term, needed: str) -> _Term:
    """A term with every label once, and without those that are not needed: diagonals and sums."""
    value, labels = term.value, term.labels
    for name in dict.fromkeys(labels):
        while labels.count(name) > 1:
            # Both axes at the front become one, of which the diagonal is picked.
            first, second = labels.index(name), labels.rindex(name)
            rest = [a for a in range(len(labels)) if a not in (first, second)]
            labels = name + "".join(labels[a] for a in rest)
            turned = c.emit(relax.op.permute_dims(value, [first, second, *rest]))
            size = term.sizes[name]
            flat = c.emit(relax.op.reshape(turned, [size * size, *term.shape(labels[1:])]))
            value = c.take(flat, np.arange(size) * (size + 1), 0)
    summed = [a for a, name in enumerate(labels) if name not in needed]
    if summed:
        value = c.emit(relax.op.sum(value, axis=summed))
        labels = "".join(name for name in labels if name in needed)
    return _Term(value, labels, term.sizes)


def _ordered(c: Conversion, term: _Term, labels: str) -> Any:
    if term.labels == labels:
        return term.value
    return c.emit(relax.op.permute_dims(term.value, [term.labels.index(n) for n in labels]))


def _product(c: Conversion, a: _Term, b: _Term, later: str) -> _Term:
    """Shared labels that are needed later are batches, the others are summed."""
    batch = "".join(n for n in a.labels if n in b.labels and n in later)
    inner = "".join(n for n in a.labels if n in b.labels and n not in later)
    rows, columns = ("".join(n for n in t.labels if n not in batch + inner) for t in (a, b))
    if not inner and not (rows and columns):
        return _scaled(c, a, b, batch + rows + columns)
    sides = ((a, batch + rows + inner, (batch, rows, inner)), (b, batch + inner + columns, (batch, inner, columns)))
    operands = []
    for term, order, groups in sides:
        shape = [term.elements(g) for g in groups[0 if batch else 1 :]]
        operands.append(c.emit(relax.op.reshape(_ordered(c, term, order), shape)))
    labels = batch + rows + columns
    product = c.emit(relax.op.matmul(*operands))
    return _Term(c.emit(relax.op.reshape(product, a.shape(labels))), labels, a.sizes)


def _scaled(c: Conversion, a: _Term, b: _Term, labels: str) -> _Term:
    """Nothing is summed and one operand repeats: element by element."""
    views = []
    for term in (a, b):
        order = "".join(n for n in labels if n in term.labels)
        shape = [term.sizes[n] if n in term.labels else 1 for n in labels]
        views.append(c.emit(relax.op.reshape(_ordered(c, term, order), shape)))
    return _Term(c.emit(relax.op.multiply(*views)), labels, a.sizes)
