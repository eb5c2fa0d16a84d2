"""Files of c_runtime that travel in a plug-in."""

import re
from pathlib import Path

from tvm_pulp.sim.iss.library import package_folder


def runtime_folder() -> Path:
    """The folder in which the C sources of the runtime are installed."""
    folder = package_folder("c_runtime")
    assert folder is not None, "c_runtime is part of the package"
    return folder


def common_files() -> dict[str, bytes]:
    """Files that the adapters of all simulators share."""
    root = runtime_folder()
    headers = [f"include/tvm_pulp/{name}.h" for name in ("job_queue", "peripheral")]
    hosted = (root / "plugins" / "common" / "hosted_model.hpp").read_bytes()
    return {name: (root / name).read_bytes() for name in headers} | {"src/hosted_model.hpp": hosted}


def filled(path: str, **values: str) -> bytes:
    """A template of c_runtime/plugins with its @NAMES@ replaced."""
    text = (runtime_folder() / "plugins" / path).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    assert re.search("@[A-Z_]+@", text) is None, f"{path} has names that nobody filled in"
    return text.encode()


def model_rules(engines: list[str]) -> str:
    """Rules of a Makefile for the models, one shared object each."""
    lines = []
    for name in engines:
        lines.append(f"lib/{name}.so: $(wildcard models/{name}/*.c models/{name}/*.h)")
        lines.append("\tmkdir -p lib")
        flags = "-O2 -fno-strict-aliasing -ffp-contract=off -fPIC -shared"
        lines.append(f"\t$(CC) {flags} -Iinclude -Imodels/{name} models/{name}/*.c -o $@ -lm")
        lines.append("")
    return "\n".join(lines)
