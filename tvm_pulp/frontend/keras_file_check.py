"""Keras files before Keras reads them: a `.keras` file names classes and functions, which Keras imports and calls."""

import io
import json
import math
import re
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, deepest_nesting
from tvm_pulp.frontend.zip_members import zip_members

# What of a `.keras` file is plausible here: members, and the text that describes the model.
_MOST_MEMBERS = 64
_LARGEST_TEXT = 1 << 24
_DEEPEST = 200
_ODD = "Keras writes nothing like it"
_MEMBER = re.compile(r"(config|metadata)\.json|model\.weights\.h5|assets/([\w .-]+/)*[\w .-]*")
_RUNNING_PYTHON = ("Lambda", "__lambda__", "__typespec__", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "TFSMLayer")
# Modules of Keras whose classes compute; in others there are downloads, files and settings.
_COMPUTING = "layers models ops activations initializers regularizers constraints quantizers random dtype_policies"
_FOR_TRAINING = "losses metrics optimizers"
_MODULE = re.compile(rf"keras(\.src)?(\.({'|'.join(f'{_COMPUTING} {_FOR_TRAINING}'.split())})(\.[a-z]\w*)*)?", re.ASCII)
_NAME = re.compile(r"\w+")


def check_keras_file(path: Path) -> None:
    """Refuse archives that are damaged or far too large, code, foreign classes, and values that lie in other files."""
    damaged = f"'{path}' is damaged or no Keras file: save it again with model.save"
    with zip_members(path, f"'{path}'", damaged, _MOST_MEMBERS) as members:
        refuse_if({"config.json", "model.weights.h5"} - members.sizes.keys(), damaged)
        strange = [n for n in members.sizes if not _MEMBER.fullmatch(n) or ".." in n]
        refuse_if(strange, f"'{path}' holds a file '{strange[:1]}': {_ODD}")
        size = members.sizes["config.json"]
        refuse_if(size > _LARGEST_TEXT, f"'{path}' describes its model in more than 16 MiB: {_ODD}")
        text = members.read("config.json").decode("utf-8")
        # All of them, so that damaged ones are found.
        weights = {name: members.read(name) for name in members.sizes}["model.weights.h5"]
    deepest = deepest_nesting(text, "[{", "]}")
    refuse_if(deepest > _DEEPEST, f"'{path}' is nested {deepest} deep: {_ODD}")
    try:
        _check_classes(json.loads(text), path)
    except (ValueError, RecursionError):
        raise UserError(damaged) from None
    _check_weights(weights, path)


def _check_classes(described: Any, path: Path) -> None:
    """Raise for a layer that is Python code, or whose class or function Keras would import from elsewhere."""
    if isinstance(described, list):
        for entry in described:
            _check_classes(entry, path)
    if not isinstance(described, dict):
        return
    name, module = described.get("class_name"), described.get("module")
    if name in _RUNNING_PYTHON:
        raise UserError(
            f"'{path}' holds a layer of class {name}, which runs Python code: nothing in a file is executed here; "
            "write it with layers of Keras, or compile the model in memory"
        )
    # A function of Keras is found by its name alone.
    known = module in (None, "builtins") or (isinstance(module, str) and _MODULE.fullmatch(module))
    named = name is None or (isinstance(name, str) and _NAME.fullmatch(name))
    if not known or not named:
        raise UserError(
            f"'{path}' holds a {name} of the module '{module}': only Keras' own classes are read from files; compile "
            "the model in memory"
        )
    if name is not None and isinstance(described.get("config"), dict):
        vocabulary = described["config"].get("vocabulary")
        refuse_if(
            isinstance(vocabulary, str),
            f"'{path}' holds a {name} with the vocabulary of another file, '{vocabulary}': give the words themselves",
        )
    for entry in described.values():
        _check_classes(entry, path)


def _check_weights(content: bytes, path: Path) -> None:
    """Raise for values that lie in other files, or are larger than the file says; Keras needs the library itself."""
    try:
        import h5py
    except ImportError:
        return
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            _check_group(file, path, h5py, 0)
    except UserError:
        raise
    except Exception:  # whatever the library says of a damaged file
        raise UserError(f"'{path}' is damaged or no Keras file: save it again with model.save") from None


def _check_group(group: Any, path: Path, h5py: Any, depth: int) -> None:
    refuse_if(depth > _DEEPEST, f"'{path}' holds groups of weights {depth} deep: {_ODD}")
    for name in group:
        link = group.get(name, getlink=True)
        refuse_if(
            not isinstance(link, h5py.HardLink),
            f"'{path}' holds weights '{name}' that lie in another place: {_ODD}; save it again with model.save",
        )
        part = group[name]
        if isinstance(part, h5py.Group):
            _check_group(part, path, h5py, depth + 1)
            continue
        elsewhere = not isinstance(part, h5py.Dataset) or part.external or part.is_virtual
        refuse_if(elsewhere, f"'{path}' holds weights '{name}' that lie in another file: {_ODD}; save it again")
        total = math.prod(part.shape or ()) * part.dtype.itemsize
        refuse_if(total > LARGEST_CONSTANTS, f"'{path}' holds weights of {total >> 20} MiB: it is not plausible here")
