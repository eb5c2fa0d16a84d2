"""A model of a study, by its content."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, with_config

from tvm_pulp.compile_options import ZOO
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import ARRAY_BYTES
from tvm_pulp.toolchain.cache import cached_file, digest_of


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Model:
    """A model file or `zoo:NAME`, with what belongs to it alone.

    `inputs`: an .npz that is run, and whose values tell the types of inputs where the graph does not. `options`: those
    of this model's compilation. Of a language model, `prompt` tokens are read and `tokens` produced.
    """

    path: str
    name: str = ""
    inputs: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    prompt: int = 16
    tokens: int = 5

    @staticmethod
    def of(given: "Model | str | Path") -> "Model":
        return given if isinstance(given, Model) else Model(str(given))

    @property
    def shown(self) -> str:
        """The name in tables."""
        return self.name or (self.path.removeprefix(ZOO) if self.path.startswith(ZOO) else Path(self.path).stem)

    @cached_property
    def content(self) -> "ModelContent":
        """The bytes, read once."""
        return ModelContent(_read(self.path), None if self.inputs is None else _read(self.inputs))


@dataclass(frozen=True)
class ModelContent:
    """The bytes of a model that a worker elsewhere needs: its file, none for one of the zoo, and its inputs."""

    model: bytes | None
    inputs: bytes | None

    @cached_property
    def digest(self) -> str:
        return digest_of([_part(self.model), _part(self.inputs)])

    def model_path(self, path: str) -> str:
        """A file with these bytes here: one of the cache, named by its content."""
        return path if self.model is None else str(_stored(self.model, Path(path).suffix))

    def inputs_path(self) -> Path | None:
        return None if self.inputs is None else _stored(self.inputs, ".npz")


def _part(data: bytes | None) -> bytes:
    return b"none" if data is None else b"file" + data


def _read(path: str) -> bytes | None:
    if path.startswith(ZOO):
        return None
    return read_input(path, f"study: cannot read '{path}'", ARRAY_BYTES)


def _stored(data: bytes, suffix: str) -> Path:
    return cached_file(digest_of(["model of a study", data]), suffix, lambda place: place.write_bytes(data))
