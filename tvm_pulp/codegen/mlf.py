"""The Model Library Format archive: C sources, headers, parameters and metadata in one reproducible tar file."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tvm_pulp.codegen.formats import (
    CpuPlanJson,
    FormatError,
    PlanJson,
    check_record,
    is_flat,
    metadata_schema,
    read_checked_cpu_plan,
    read_checked_plan,
    read_json,
)
from tvm_pulp.codegen.tar_file import DamagedArchive, read_tar
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import ARCHIVE_BYTES
from tvm_pulp.output_files import output_file
from tvm_pulp.soc import recorded

FORMAT_VERSION = 7
# The folder of the same runtime by calls of an SDK, for chips that have one.
FIRMWARE = "firmware"
_Record = TypeVar("_Record", PlanJson, CpuPlanJson)


def write(path: Path, files: dict[str, bytes]) -> None:
    """Write an archive whose bytes depend on nothing but the files."""
    with (
        output_file(path) as raw,
        tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name in sorted(files):
            entry = tarfile.TarInfo(f"./{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), 0, 0o644
            tar.addfile(entry, io.BytesIO(files[name]))


def read(path: Path) -> dict[str, bytes]:
    """All files of an archive; anything else is a user error."""
    content = read_input(path, f"archive '{path}' cannot be read", ARCHIVE_BYTES)
    try:
        files = read_tar(content)
    except DamagedArchive as error:
        raise UserError(f"'{path}' is not a readable archive ({error}): compile the model first") from None
    if "metadata.json" not in files:
        raise UserError(f"'{path}' holds no metadata.json: it is not a Model Library Format archive")
    return files


def metadata(files: dict[str, bytes]) -> dict[str, Any]:
    """The archive's metadata, checked."""
    try:
        decoded: dict[str, Any] = read_json(files["metadata.json"])
        if decoded["version"] != FORMAT_VERSION or "tvm_pulp" not in decoded:
            raise KeyError("version")
    except (ValueError, KeyError, TypeError):
        raise UserError("the archive's metadata.json was not written by this version of tvm_pulp: recompile") from None
    try:
        check_record(metadata_schema(decoded), decoded)
    except FormatError as error:
        raise UserError(f"the archive's metadata.json is damaged ({error}): recompile") from None
    _check_machine(decoded["tvm_pulp"])
    return decoded


def _check_machine(facts: dict[str, Any]) -> None:
    """Raise where the archive's SoC is none that the rest of its record can be for."""
    soc = recorded(facts)
    flat = is_flat(facts)
    known = not soc.simulated and (soc.cpu is not None or facts["soc"] == "host") if flat else soc.simulated
    refuse_if(
        not known or (not flat and facts["cores"] > soc.cluster.cores),
        f"the archive's metadata.json is damaged (it is not for a machine as its SoC '{soc.name}' is): recompile",
    )
    if soc.cpu is not None and soc.cpu.hal:
        for end in (*facts["inputs"], *facts["outputs"]):
            refuse_if(
                "symbol" not in end,
                f"the archive's metadata.json is damaged ('{end['name']}' has no symbol): recompile",
            )


def read_plan(files: dict[str, bytes]) -> PlanJson | None:
    """The plan that an archive for a SoC with a cluster carries, checked; None where there is none."""
    return None if _is_flat(files) else _read_plan(files, read_checked_plan)


def read_cpu_plan(files: dict[str, bytes]) -> CpuPlanJson | None:
    """The same of an archive for a CPU by itself."""
    return _read_plan(files, read_checked_cpu_plan) if _is_flat(files) else None


def _is_flat(files: dict[str, bytes]) -> bool:
    return is_flat(metadata(files)["tvm_pulp"])


def _read_plan(files: dict[str, bytes], read: Callable[[bytes], _Record]) -> _Record | None:
    if "plan.json" not in files:
        return None
    try:
        return read(files["plan.json"])
    except ValueError as error:
        raise UserError(f"the archive's plan.json is damaged ({error}): recompile") from None


def parameters_file(tensors: dict[str, np.ndarray]) -> bytes:
    """Constants as an .npz with fixed time stamps."""
    stream = io.BytesIO()
    np.savez(stream, **tensors)  # type: ignore[arg-type]
    return stream.getvalue()
