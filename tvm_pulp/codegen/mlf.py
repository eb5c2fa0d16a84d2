"""The Model Library Format archive: C sources, headers, parameters and metadata in one reproducible tar file."""

import io
import json
import lzma
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tvm_pulp.codegen.formats import FormatError, PlanJson, check_record, from_json, metadata_schema
from tvm_pulp.errors import UserError
from tvm_pulp.output_files import output_file

FORMAT_VERSION = 7
# The folder of the same runtime by calls of an SDK, for chips that have one.
FIRMWARE = "firmware"


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
    try:
        with tarfile.open(path, "r:*") as tar:
            files = {}
            for entry in tar.getmembers():
                name = entry.name.removeprefix("./")
                if entry.isfile() and not name.startswith("/") and ".." not in Path(name).parts:
                    source = tar.extractfile(entry)
                    assert source is not None
                    files[name] = source.read()
    except (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error).split("\n")[0].rstrip(":")
        raise UserError(f"'{path}' is not a readable archive ({reason}): compile the model first") from None
    if "metadata.json" not in files:
        raise UserError(f"'{path}' holds no metadata.json: it is not a Model Library Format archive")
    return files


def metadata(files: dict[str, bytes]) -> dict[str, Any]:
    """The archive's metadata, checked."""
    try:
        decoded: dict[str, Any] = json.loads(files["metadata.json"])
        if decoded["version"] != FORMAT_VERSION or "tvm_pulp" not in decoded:
            raise KeyError("version")
    except (ValueError, KeyError, TypeError):
        raise UserError("the archive's metadata.json was not written by this version of tvm_pulp: recompile") from None
    try:
        check_record(metadata_schema(decoded), decoded)
    except (FormatError, AttributeError, TypeError) as error:
        raise UserError(f"the archive's metadata.json is damaged ({error}): recompile") from None
    return decoded


def read_plan(files: dict[str, bytes]) -> PlanJson | None:
    """The plan that an archive carries, checked; None where there is none."""
    if "plan.json" not in files:
        return None
    try:
        plan: PlanJson = from_json(PlanJson, files["plan.json"])
    except ValueError as error:
        raise UserError(f"the archive's plan.json is damaged ({error}): recompile") from None
    return plan


def parameters_file(tensors: dict[str, np.ndarray]) -> bytes:
    """Constants as an .npz with fixed time stamps."""
    stream = io.BytesIO()
    np.savez(stream, **tensors)  # type: ignore[arg-type]
    return stream.getvalue()
