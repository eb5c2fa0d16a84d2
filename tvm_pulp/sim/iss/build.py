"""Build C sources to a shared object on demand, once per content, in the user's cache folder."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tvm_pulp.errors import UserError

FLAGS = ("-O2", "-fno-strict-aliasing", "-ffp-contract=off", "-fPIC", "-shared")


def cache_folder() -> Path:
    """The folder of built libraries: $XDG_CACHE_HOME/tvm_pulp or ~/.cache/tvm_pulp."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "tvm_pulp"


def host_compiler() -> list[str]:
    """The command of a host C compiler: `cc`, else the one in the ziglang wheel."""
    system = shutil.which("cc")
    if system:
        return [system]
    return [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all"]


def build_shared_object(name: str, sources: Sequence[Path], include: Sequence[Path], *flags: str) -> Path:
    """Compile `sources` to `<cache>/<name>-<hash>.so`; the hash covers sources, headers and flags."""
    compiler = host_compiler()
    digest = hashlib.sha256(repr((compiler, FLAGS, flags)).encode())
    headers = [path for folder in include for path in sorted(folder.rglob("*.h"))]
    for path in [*sources, *headers]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    target = cache_folder() / f"{name}-{digest.hexdigest()[:24]}.so"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f"{name}-", suffix=".tmp", dir=target.parent)
    os.close(handle)
    folders = [f"-I{folder}" for folder in include]
    command = [*compiler, *FLAGS, *flags, *folders, *map(str, sources), "-o", temporary, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        Path(temporary).unlink()
        reason = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-200:])
        raise UserError(f"cannot build {name} with `{' '.join(compiler)}`: {reason}; install a C compiler or ziglang")
    Path(temporary).replace(target)
    return target
