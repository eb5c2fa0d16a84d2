"""Lineage of a module's values: nodes of the model file, through every pass.

Importers state it, passes carry it on, layers show it. It travels as an attribute of `main`, by names of variables.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tvm import relax

_ATTRIBUTE = "made_of"


@dataclass(frozen=True)
class Lineage:
    """The name of a value, and the nodes of the model file that it computes, in their order."""

    name: str
    nodes: tuple[str, ...]


Table = dict[str, Lineage]


def read(module: Any) -> Table:
    """Lineages by variable; empty where an importer stated none."""
    attributes = module["main"].attrs
    if not attributes or _ATTRIBUTE not in attributes:
        return {}
    held = json.loads(str(attributes[_ATTRIBUTE]))
    return {variable: Lineage(name, tuple(nodes)) for variable, (name, nodes) in held.items()}


def stated(module: Any, table: Mapping[str, Lineage]) -> Any:
    """The module with lineages of its variables."""
    if table:
        held = {variable: [made.name, list(made.nodes)] for variable, made in table.items()}
        module["main"] = module["main"].with_attr(_ATTRIBUTE, json.dumps(held))
    return module


def removed(module: Any) -> Any:
    """A copy of the module without lineages, for people to read."""
    main = module["main"]
    if not main.attrs or _ATTRIBUTE not in main.attrs:
        return module
    copy = module.clone()
    copy["main"] = main.without_attr(_ATTRIBUTE)
    return copy


def bindings_of(function: Any) -> list[Any]:
    """Bindings of a function in order."""
    return [b for block in function.body.blocks for b in block.bindings]


def of_imported(module: Any, named: Mapping[str, Lineage]) -> Any:
    """The module as imported: what was bound on the way to a node's result belongs to that node."""
    if not named:
        return module
    table: Table = {}
    waiting: list[str] = []
    latest = next(iter(named.values()))
    for binding in bindings_of(module["main"]):
        variable = str(binding.var.name)
        waiting.append(variable)
        if variable in named:
            latest = named[variable]
            table |= dict.fromkeys(waiting, latest)
            waiting = []
    return stated(module, table | dict.fromkeys(waiting, latest))


class Tracker:
    """Follows one pass: which new variables are called after which old ones, or were bound while one was visited."""

    def __init__(self, module: Any) -> None:
        self._module, self._table = module, read(module)
        self.visited = ""
        # New variables and the old ones that they are called after.
        self._after: dict[str, str] = {}

    def bound(self, variable: Any, name: str) -> None:
        """A variable was bound under the name of an old one, or of a new one, or another."""
        source = self.visited
        if name != self.visited:
            source = self._after.get(name, name if name in self._table else self.visited)
        self._after[str(variable.name)] = source

    def name_of(self, old: str) -> str:
        """The name of the node behind an old variable; the variable's own name where no importer said."""
        known = self._table.get(old)
        return old if known is None else known.name

    @contextmanager
    def on_behalf_of(self, variable: Any) -> Iterator[None]:
        """Bindings made meanwhile belong to where a new variable came from, not to the one that is visited."""
        before = self.visited
        self.visited = self._after.get(str(variable.name), before)
        yield
        self.visited = before

    def finish(self, made: Any, values: Mapping[Any, Any]) -> Any:
        """The new module with lineages; `values` are what old variables became."""
        if not self._table:
            return made
        alive = [str(b.var.name) for b in bindings_of(made["main"])]
        homes = self._homes(set(alive), values)
        gathered: dict[str, dict[str, None]] = {name: {} for name in alive}
        for old, places in homes.items():
            for place in places:
                if old in self._table and place in gathered:
                    gathered[place] |= dict.fromkeys(self._table[old].nodes)
        return stated(made, self._named(alive, gathered))

    def _homes(self, alive: set[str], values: Mapping[Any, Any]) -> dict[str, set[str]]:
        """The places where an old variable's computation went: its own new variables, else those of its readers."""
        old = bindings_of(self._module["main"])
        readers: dict[str, list[str]] = {}
        for binding in old:
            for operand in variables_of(binding.value):
                readers.setdefault(str(operand.name), []).append(str(binding.var.name))
        made: dict[str, set[str]] = {}
        for new, source in self._after.items():
            if new in alive:
                made.setdefault(source, set()).add(new)
        homes: dict[str, set[str]] = {}
        for binding in reversed(old):
            name = str(binding.var.name)
            read = {str(v.name) for v in variables_of(values.get(binding.var))}
            own = (read & alive) | made.get(name, set())
            homes[name] = own or {place for reader in readers.get(name, ()) for place in homes.get(reader, ())}
        return dict(reversed(homes.items()))

    def _named(self, alive: Iterable[str], gathered: Mapping[str, Mapping[str, None]]) -> Table:
        table: Table = {}
        waiting: list[str] = []  # bound by normalization on the way to the next one
        for name in alive:
            known = self._table.get(self._after.get(name, ""))
            waiting.append(name)
            if known is None:
                continue
            for each in waiting:
                table[each] = Lineage(known.name, tuple(gathered[each]) or known.nodes)
            waiting = []
        return table


def variables_of(expression: Any) -> Iterator[Any]:
    """Every variable that an expression reads, as often as it is read."""
    if isinstance(expression, relax.Var):
        yield expression
    parts: Any = getattr(expression, "args", ())
    if isinstance(expression, relax.Tuple):
        parts = expression.fields
    elif isinstance(expression, relax.TupleGetItem):
        parts = [expression.tuple_value]
    for part in parts:
        yield from variables_of(part)
