"""Small canonical modules, and backends with nothing but patterns: what annotation and partitioning are tested on."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tvm import relax
from tvm.relax.dpl import is_op, wildcard

from tvm_pulp import qnn
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.qnn.network import Network
from tvm_pulp.qnn.requant import Requant
from tvm_pulp.uma.backend import UMABackend
from tvm_pulp.uma.pattern import Check
from tvm_pulp.uma.strategy import Refusal

RULE = Requant("pulp", 8, 0, -128, 127, True)


def dense(x: Any, depth: int, channels: int, seed: int = 0) -> Any:
    """A fully connected layer with random weights."""
    source = np.random.default_rng(seed)
    weight = source.integers(-8, 8, (channels, depth)).astype(np.int8)
    mul, add = np.full(1, 20, np.int32), np.zeros(1, np.int32)
    constants = [relax.const(c, str(c.dtype)) for c in (weight, mul, add)]
    return qnn.emit("dense", [x, *constants], {"zero_point": 0, "has_bias": 0, **RULE.attributes()})


def lookup(x: Any, seed: int = 0) -> Any:
    """A random function of bytes."""
    table = np.random.default_rng(seed).integers(-128, 128, (256,)).astype(np.int8)
    return qnn.emit("lookup", [x, relax.const(table, "int8")])


def network(rows: int, depth: int, body: Callable[[Any, Any], list[Any]]) -> Network:
    """The network of a module whose operators `body(builder, x)` emits; it returns the outputs."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((rows, depth), "int8"))
    with builder.function("main", [x]):
        with builder.dataflow():
            results = body(builder, x)
            output = builder.emit_output(relax.Tuple(results))
        builder.emit_func_output(output)
    imported = Imported(builder.get(), ("x",), tuple(f"y{i}" for i in range(len(results))), "pulp")
    return build_network(imported.module, imported, "net")


class Patterns(UMABackend):
    """An engine that is nothing but patterns."""

    def __init__(self, name: str, patterns: dict[str, Any], check: Check | None = None) -> None:
        super().__init__()
        self._name = name
        for pattern, expression in patterns.items():
            self._register_pattern(pattern, expression, check or (lambda _: True))
            self._register_operator_strategy(pattern, lambda _layer, _context: Refusal(name, "it has no forms"))

    @property
    def target_name(self) -> str:
        return self._name

    @property
    def default_soc(self) -> str:
        return "siracusa"


def dense_pattern() -> Any:
    return is_op("tvm_pulp.qnn.dense")(varg_default_wildcard=True)


def lookup_pattern() -> Any:
    return is_op("tvm_pulp.qnn.lookup")(wildcard(), wildcard())


def dense_lookup_pattern() -> Any:
    return is_op("tvm_pulp.qnn.lookup")(dense_pattern(), wildcard())


def lookup_dense_pattern() -> Any:
    return is_op("tvm_pulp.qnn.dense")(lookup_pattern(), wildcard(), wildcard(), wildcard())


def reshaped_pattern() -> Any:
    """A look-up of a fully connected layer, seen in another shape."""
    return is_op("tvm_pulp.qnn.lookup")(is_op("relax.reshape")(dense_pattern(), wildcard()), wildcard())
