"""An MLonMCU environment that needs no network: its file, its folders, and the two lines that load the plug-in."""

import hashlib
from pathlib import Path
from typing import Any

import yaml

from tvm_pulp.errors import refuse_file_errors
from tvm_pulp.output_files import write_outputs

FILE = "environment.yml"
_FOLDERS = ("deps", "logs", "models", "plugins", "results", "temp")
_EXTENSIONS = "from tvm_pulp.tvmc.mlonmcu import register\n\nregister()\n"
_MARK = "# Written by tvm_pulp, and again when backends or targets are new; a file that was edited is kept. "


def ensure_environment(folder: Path) -> bool:
    """Write the environment where there is none or an old one of ours; True if something was written."""
    path = folder / FILE
    text = environment_text(folder)
    if path.is_file() and (not is_ours(path) or path.read_text(encoding="utf-8") == text):
        return False
    with refuse_file_errors(f"cannot write the environment '{folder}'", "; choose another -H"):
        for name in _FOLDERS:
            (folder / name).mkdir(parents=True, exist_ok=True)
    write_outputs(folder, {"plugins/extensions.py": _EXTENSIONS.encode(), FILE: text.encode()})
    return True


def is_ours(path: Path) -> bool:
    """Tell if a file is as we wrote it."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    return first == _MARK + _digest(rest)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def environment_text(folder: Path) -> str:
    """The file: everything of ours, and MLonMCU's own frameworks, which ask for their tools when they are used."""
    body = yaml.safe_dump(_content(folder.absolute()), sort_keys=False)
    return f"{_MARK}{_digest(body)}\n{body}"


def _content(home: Path) -> dict[str, Any]:
    from mlonmcu import flow
    from mlonmcu.models import SUPPORTED_FRONTENDS

    from tvm_pulp import soc
    from tvm_pulp.tvmc.mlonmcu import names

    on: dict[str, Any] = {"enabled": True, "features": {}}
    ours = {**on, "backends": {"default": names.CORES_ONLY, **{name: dict(on) for name in names.backends()}}}
    tables = {
        "tflm": flow.SUPPORTED_TFLITE_BACKENDS,
        "tvm": flow.SUPPORTED_TVM_BACKENDS,
        "iree": flow.SUPPORTED_IREE_BACKENDS,
    }
    others = {
        framework: {**on, "backends": {name: dict(on) for name in backends}}
        for framework, backends in tables.items()
        if framework in flow.SUPPORTED_FRAMEWORKS
    }
    # The first frontend that knows a model takes it; ours needs nothing that is not installed.
    frontends = [names.FRONTEND, *(name for name in ("onnx", "tflite") if name in SUPPORTED_FRONTENDS)]
    return {
        "home": str(home),
        "logging": {"level": "INFO", "to_file": False, "rotate": False},
        "cleanup": {"auto": False, "keep": 50},
        "paths": {**{name: name for name in _FOLDERS}, "models": ["models"]},
        "repos": {},
        "frameworks": {"default": names.FRAMEWORK, names.FRAMEWORK: ours, **others},
        "frontends": {name: dict(on) for name in frontends},
        "toolchains": {},
        "platforms": {names.PLATFORM: dict(on)},
        "targets": {"default": names.target_name(soc.DEFAULT), **{name: dict(on) for name in names.targets()}},
        # Without runs_per_stage, MLonMCU's executors hide failed runs.
        "vars": {"allow_extensions": True, "runs_per_stage": True},
        "flags": {},
    }
