"""Archives that somebody damaged or edited: bytes, members, metadata and plans."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.codegen import mlf

_WRONG: tuple[Any, ...] = (None, 0, -1, 1 << 31, 1 << 63, "", "x" * 50, [], {}, True, 1.5, "../../etc/passwd")


def write_mutant(rng: np.random.Generator, archive: Path, target: Path) -> None:
    """One damaged copy of an archive."""
    kind = int(rng.integers(5))
    if kind == 0:
        target.write_bytes(_damage(rng, archive.read_bytes()))
        return
    files = mlf.read(archive)
    if kind == 1:
        del files[sorted(files)[int(rng.integers(len(files)))]]
    else:
        name = "plan.json" if kind == 2 else "metadata.json"
        files[name] = _edit(rng, files[name])
    mlf.write(target, files)


def _damage(rng: np.random.Generator, content: bytes) -> bytes:
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        out[int(rng.integers(len(out)))] = int(rng.integers(256))
    if rng.integers(3) == 0:
        del out[int(rng.integers(len(out))) :]
    return bytes(out)


def _edit(rng: np.random.Generator, text: bytes) -> bytes:
    record = json.loads(text)
    for _ in range(int(rng.integers(1, 3))):
        places = list(_places(record))
        parent, key = places[int(rng.integers(len(places)))]
        if rng.integers(3) == 0:
            del parent[key]
        else:
            parent[key] = copy.deepcopy(_WRONG[int(rng.integers(len(_WRONG)))])
    return json.dumps(record).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of nested lists and dictionaries: where it is, and under which key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)
