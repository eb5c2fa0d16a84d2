"""A study as a YAML file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tvm_pulp.compile_options import ZOO
from tvm_pulp.dse.model import Model
from tvm_pulp.dse.soc_grid import Variant, grid
from tvm_pulp.dse.study import Study
from tvm_pulp.errors import UserError
from tvm_pulp.soc.catalog import read_yaml
from tvm_pulp.soc.explain_error import explain


class StudyFile(BaseModel):
    """The content of the file; paths are relative to it.

    `models`: paths, zoo:NAME, or mappings with the fields of `Model`. `socs`: names, descriptions, or grids,
    which are mappings of `base` and of settings to lists of values.
    """

    model_config = ConfigDict(extra="forbid")
    models: list[str | Model]
    socs: list[str | dict[str, Any]]
    targets: list[str] = ["c"]
    compile_options: dict[str, Any] = {}


def read_study(path: str | Path, cache: str | Path | None = None) -> Study:
    """The study that a file describes."""
    place = Path(path)
    content = read_yaml(place, f"study '{place}'", "with models, socs and targets")
    try:
        made = StudyFile.model_validate(content)
    except ValidationError as error:
        raise UserError(f"study '{place}': {explain(error)}") from None
    folder = place.parent
    models = [_model(entry, folder) for entry in made.models]
    variants: list[Variant | str] = []
    for entry in made.socs:
        if isinstance(entry, str):
            variants.append(_near(entry, folder) if entry.endswith((".yaml", ".yml")) else entry)
        else:
            base, axes = entry.get("base"), {name: value for name, value in entry.items() if name != "base"}
            variants += grid(_near(base, folder) if str(base).endswith((".yaml", ".yml")) else base, **axes).variants
    return Study(models, variants, made.targets, made.compile_options, cache)


def _model(entry: str | Model, folder: Path) -> Model:
    made = Model.of(entry)
    path = made.path if made.path.startswith(ZOO) else _near(made.path, folder)
    return replace(made, path=path, inputs=None if made.inputs is None else _near(made.inputs, folder))


def _near(path: Any, folder: Path) -> str:
    return str(folder / str(path))
