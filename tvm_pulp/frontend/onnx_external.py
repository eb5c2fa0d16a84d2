"""External data of an ONNX model: read from files beside the model, and from nowhere else."""

from pathlib import Path
from typing import Any

import onnx

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, check_shape
from tvm_pulp.frontend.onnx_nibbles import packed_bytes
from tvm_pulp.frontend.onnx_tensors import all_tensors, item_bytes


def load_external(model: Any, folder: Path) -> None:
    """Put the bytes of external tensors into the model. A path that leaves `folder` is a user error."""
    root, total = folder.resolve(), 0
    for tensor in all_tensors(model.graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        content = _read(tensor, root, LARGEST_CONSTANTS - total)
        total += len(content)
        tensor.raw_data = content
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _read(tensor: Any, root: Path, room: int) -> bytes:
    what = f"tensor '{tensor.name}'"
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    path = _inside(what, location, root)
    offset, length = (_number(what, entries, key) for key in ("offset", "length"))
    needed = check_shape(what, tensor.dims, item_bytes(tensor.data_type) or 1, LARGEST_CONSTANTS)
    needed = packed_bytes(tensor.data_type, needed)
    length = needed if length is None else length
    if length > room or length != needed:
        reason = f"its external data has {length} bytes, its shape {list(tensor.dims)} needs {needed}"
        raise UserError(f"{what}: {reason}: export the model again")
    try:
        with path.open("rb") as stream:
            stream.seek(offset or 0)
            content = stream.read(length)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"{what}: external data '{location}' cannot be read ({reason}): put it beside the model"
        ) from None
    if len(content) != length:
        raise UserError(f"{what}: external data '{location}' ends before its {length} bytes: copy the file again")
    return content


def _inside(what: str, location: str, root: Path) -> Path:
    """The file of a location, proven to be a regular file under the model's folder; links are followed first."""
    outside = UserError(f"{what}: external data '{location}' lies outside the model's folder: put it beside the model")
    if not location or "\0" in location or Path(location).is_absolute() or "\\" in location:
        raise outside
    try:
        path = (root / location).resolve()
    except (OSError, RuntimeError):
        raise outside from None
    if root not in path.parents:
        raise outside
    refuse_if(not path.is_file(), f"{what}: external data '{location}' is missing: put it beside the model")
    return path


def _number(what: str, entries: dict[str, str], key: str) -> int | None:
    text = entries.get(key)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise UserError(f"{what}: external data has the {key} '{text[:40]}', not a byte count: export the model again")
    return int(text)
