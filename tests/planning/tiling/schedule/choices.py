"""Choices about layers that are no more than their recipes."""

from itertools import pairwise
from typing import Any

import numpy as np

from tvm_pulp.planning.tiling.forms.cuts import Tiling
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, CoreCost, Job, Load, Local, Recipe, Store


def chosen(*recipes: Recipe, two_copies: bool = False, exclusive: bool = False) -> Choice:
    """A layer whose tiles are computed so."""
    form: Any = None
    tiles: Any = range(len(recipes))
    return Choice(Tiling(form, (), 0, 0, tiles, recipes.__getitem__), two_copies, 0, exclusive)


def finished_jobs() -> tuple[Network, list[Choice]]:
    """Two layers in two tiles; of each an accelerator makes sums that the cores finish."""
    spec, half = TensorSpec((2, 64), "int8"), TensorSpec((1, 64), "int8")
    tensors = [Tensor(name, spec, kind) for name, kind in (("x", "input"), ("t", "activation"), ("y", "output"))]
    layers, choices = [], []
    for number, (read, made) in enumerate(pairwise(tensors)):
        weights = Tensor(f"w{number}", half, "constant", data=np.zeros((1, 64), np.int8))
        layers.append(Layer(f"layer{number}", "dense", {}, [read, weights], [made]))
        recipes = []
        for row in range(2):
            box = Box((row, 0), (1, 64))
            loads = Load.of(read, f"x{number}", box), Load.of(weights, f"w{number}")
            sums, y = Local("sums", TensorSpec((1, 64), "int32")), Local(f"y{number}", half)
            job = Job("npu", None, 4, tuple(load.local for load in loads), (sums,), cycles=100)
            call = Call("finish", "finish", (), (), (sums,), (y,), CoreCost(100))
            recipes.append(Recipe((*loads, job, call, Store(y, made, box))))
        choices.append(chosen(*recipes, two_copies=True))
    return Network("net", layers, tensors[:1], tensors[-1:]), choices
