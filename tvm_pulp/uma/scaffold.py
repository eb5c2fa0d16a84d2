"""A new accelerator as an installable package that works before it is changed."""

import keyword
import re
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.output_files import write_outputs
from tvm_pulp.uma import registry

# `c` is the target without an engine, the others are engines and devices of ours.
_TAKEN = ("c", "cluster", "cores", "host", "iss", "dma", "load", "store", "l3")
_TEMPLATES = Path(__file__).parent / "scaffold_files"
# Template -> place in the new package.
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "init.py": "@name@_backend/__init__.py",
    "backend.py": "@name@_backend/backend.py",
    "dense.py": "@name@_backend/dense.py",
    "dense_lookup.py": "@name@_backend/dense_lookup.py",
    "soc.yaml": "@name@_backend/soc.yaml",
    "soc_mcu.yaml": "@name@_backend/soc_mcu.yaml",
    "driver.h": "@name@_backend/driver/@name@.h",
    "driver.c": "@name@_backend/driver/@name@.c",
    "model.c": "@name@_backend/model/@name@.c",
    "test_backend.py": "tests/test_backend.py",
}


def create(name: str, folder: Path) -> list[Path]:
    """Write the package of engine `name` into a new folder; returns its files."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(f"'{name}' cannot name an engine: use lower-case letters, digits and underscores, letter first")
    if name in (*_TAKEN, *registry.names()):
        raise UserError(f"'{name}' cannot name a new engine: the name is taken (see `tvmc targets`); choose another")
    if folder.exists():
        raise UserError(f"'{folder}' exists already: choose another name or --output folder")
    if not folder.parent.is_dir():
        raise UserError(f"folder '{folder.parent}' does not exist: create it first")
    words = {"@name@": name, "@NAME@": name.upper(), "@Class@": "".join(w.capitalize() for w in name.split("_"))}
    files: dict[str, bytes] = {}
    for template, place in _FILES.items():
        text = (_TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
        for word, value in words.items():
            text, place = text.replace(word, value), place.replace(word, value)
        files[place] = text.encode()
    return write_outputs(folder, files)
