"""Variants of a SoC: every combination of values of some of its settings."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.limits import STUDY_ROWS
from tvm_pulp.soc import Soc
from tvm_pulp.soc.description import setting_names
from tvm_pulp.soc.memory_size import parse_size

# Short names of settings that every SoC has. Any other setting is named by its dotted path.
SHORT = {
    "cores": "cluster.cores",
    "l1": "memory.l1.size",
    "l2": "memory.l2.size",
    "l3": "memory.l3.size",
    "l2_latency": "memory.l2.latency",
    "dma": "dma.bytes_per_cycle",
}
_KIB = 1024
_SIZES = tuple(path for path in SHORT.values() if path.endswith(".size"))


@dataclass(frozen=True)
class Variant:
    """A SoC with some settings changed: `values` by the names they were given under, `settings` by their paths."""

    base: Soc
    values: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The base with what is changed: `NAME l1=64k cores=4`."""
        changed = (f"{name}={_short(name, value)}" for name, value in self.values.items())
        return " ".join([self.base.name, *changed])

    def soc(self) -> Soc:
        """The description; a user error where there is no such machine."""
        if not self.settings:
            return self.base
        # Named after its content, so that two studies with the same machine share what was compiled for it.
        changed = "-".join(f"{path.split('.')[-1]}{value}" for path, value in sorted(self.settings.items()))
        made = self.base.with_settings(self.settings)
        return made.model_copy(update={"name": f"{self.base.name}-{changed}"})


@dataclass(frozen=True)
class SocGrid(Sequence[Variant]):
    """All combinations of `axes` on a base; the first axis varies slowest."""

    base: Soc
    axes: Mapping[str, tuple[Any, ...]]
    paths: Mapping[str, str]

    @property
    def variants(self) -> list[Variant]:
        STUDY_ROWS.check(len(self), "grid: it has")
        values = itertools.product(*self.axes.values())
        return [self.variant(dict(zip(self.axes, chosen, strict=True))) for chosen in values]

    def variant(self, values: Mapping[str, Any]) -> Variant:
        """The point of the grid with these values."""
        return Variant(self.base, dict(values), {self.paths[name]: value for name, value in values.items()})

    def __len__(self) -> int:
        return math.prod(map(len, self.axes.values()))

    def __getitem__(self, index: Any) -> Any:
        return self.variants[index]


def grid(base: str | Path | Soc | None = None, /, **axes: Any) -> SocGrid:
    """Every combination of the values of some settings.

    A setting is `l1`, `cores` and the like, `ENGINE_PARAMETER` (a parameter's last word is enough), or any dotted path
    as `tvmc sim --set` takes it: `grid(l1=["64k", "256k"], **{"dma.startup": [1, 8]})`. One value is fine too.
    """
    given = axes.pop("base", None)
    refuse_if(given is not None and base is not None, "grid: the base is given twice: name it once")
    chosen = base if base is not None else given
    refuse_if(
        chosen is not None and not isinstance(chosen, (str, Path, Soc)),
        f"grid: the base '{chosen}' is no name and no file of a SoC: write it as a text",
    )
    soc = chosen if isinstance(chosen, Soc) else socs.load(chosen if chosen is not None else socs.DEFAULT)
    for name, values in axes.items():
        if isinstance(values, list | tuple | range):
            STUDY_ROWS.check(len(values), f"grid: '{name}' makes")
    listed = {name: tuple(v) if isinstance(v, list | tuple | range) else (v,) for name, v in axes.items()}
    for name, values in listed.items():
        refuse_if(not values, f"grid: '{name}' has no value: give at least one")
    paths = {name: setting_path(soc, name) for name in listed}
    sizes = {n: tuple(parse_size(n, value) for value in values) for n, values in listed.items() if paths[n] in _SIZES}
    return SocGrid(soc, {**listed, **sizes}, paths)


def setting_path(soc: Soc, name: str) -> str:
    """The dotted path that a name of an axis stands for."""
    known = setting_names(soc.model_dump())
    if name in SHORT or name in known:
        return SHORT.get(name, name)
    for engine, described in soc.engines.items():
        prefix = f"{engine}_"
        if not name.startswith(prefix):
            continue
        word = name.removeprefix(prefix)
        found = [p for p in described.parameters if p == word]
        found = found or [p for p in described.parameters if p.endswith(f"_{word}")]
        if len(found) == 1:
            return f"engines.{engine}.parameters.{found[0]}"
        known_here = ", ".join(f"{engine}_{p}" for p in described.parameters)
        which = "stands for several" if found else "is no"
        raise UserError(f"grid: '{name}' {which} parameter of engine {engine}: choose from {known_here}")
    hint = f"choose from {', '.join(SHORT)}, ENGINE_PARAMETER or a dotted path"
    close = [path for path in known if path.split(".")[-1] == name][:3]
    raise UserError(
        f"grid: '{name}' is no setting of SoC {soc.name}: {'did you mean ' + ' or '.join(close) if close else hint}"
    )


def _short(name: str, value: Any) -> str:
    """A value as people write it: sizes in kibibytes."""
    is_size = SHORT.get(name, name) in _SIZES
    return f"{value // _KIB}k" if is_size and value % _KIB == 0 else str(value)
