"""Unique names for the tensors of a TFLite file. Its tensors have numbers, names need not differ; TVM's importer knows
tensors by their names."""

from itertools import count
from typing import Any

from tflite import Model, SubGraph, Tensor


class _NamedTensor(Tensor):
    name: bytes | None = None

    def Name(self) -> bytes | None:
        return self.name


class _NamedGraph(SubGraph):
    names: list[bytes | None]

    def Tensors(self, j: int) -> Any:
        made, found = _NamedTensor(), super().Tensors(j)
        made.Init(found._tab.Bytes, found._tab.Pos)
        made.name = self.names[j]
        return made


class _NamedModel(Model):
    def Subgraphs(self, j: int) -> Any:
        made, found = _NamedGraph(), super().Subgraphs(j)
        made.Init(found._tab.Bytes, found._tab.Pos)
        made.names = _unique([found.Tensors(i).Name() for i in range(found.TensorsLength())])
        return made


def with_unique_names(model: Any) -> Any:
    """The same model, in which no two tensors of a graph have the same name."""
    names = [model.Subgraphs(0).Tensors(i).Name() for i in range(model.Subgraphs(0).TensorsLength())]
    if _unique(names) == names:
        return model
    made = _NamedModel()
    made.Init(model._tab.Bytes, model._tab.Pos)
    return made


def _unique(names: list[bytes | None]) -> list[bytes | None]:
    """The first of several keeps its name, the others get numbers; tensors without a name stay without."""
    taken, seen, made = set(names), set[bytes](), list[bytes | None]()
    for name in names:
        if name is not None and name in seen:
            numbered = (b"%s_%d" % (name, number) for number in count(1))
            name = next(new for new in numbered if new not in taken)
            taken.add(name)
        elif name is not None:
            seen.add(name)
        made.append(name)
    return made
