"""Programs of `torch.export`: members of the zip file, entries of its records, bytes of weights."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.draws import Random, edit_bytes, one
from tests.fuzz.formats.format import Format
from tests.fuzz.formats.onnx_models import compile_command
from tests.fuzz.records import edit_json

# Ends the process, if anybody loads it as a pickle.
_PICKLE = b"cos\nabort\n(tR."


def seeds(folder: Path) -> Sequence[Path]:
    """A small convolutional network, and one of fully connected layers with an open batch."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.dense = torch.nn.Conv2d(2, 3, 3), torch.nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.softmax(self.dense(torch.relu(self.conv(x)).mean((2, 3))), -1)

    torch.manual_seed(1)
    torch.export.save(torch.export.export(Net().eval(), (torch.ones(1, 2, 6, 6),)), folder / "conv.pt2")
    dense = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(dense.eval(), (torch.ones(2, 4),), dynamic_shapes=(shapes,))
    torch.export.save(program, folder / "dense.pt2")
    return [folder / "conv.pt2", folder / "dense.pt2"]


def edit(rng: Random, content: bytes) -> bytes:
    """Change an entry of a record, a member, or bytes anywhere."""
    if rng.random() < 0.1:
        return edit_bytes(rng, content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    choice = rng.random()
    records = [place for place, (name, _) in enumerate(members) if name.endswith(".json")]
    if choice < 0.7 and records:
        place = one(rng, records)
        members[place] = members[place][0], edit_json(rng, members[place][1])
    else:
        place = int(rng.integers(len(members)))
        name, text = members[place]
        if choice < 0.85:
            members[place] = name, one(rng, [_PICKLE, b"", edit_bytes(rng, text), text + text])
        elif choice < 0.92:
            del members[place]
        else:
            members[place] = one(rng, ["", "x", name + "/below", "../" + name, name.upper()]), text
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members:
            archive.writestr(zipfile.ZipInfo(name or "_"), text)
    return out.getvalue()


FORMAT = Format("pt2", seeds, edit, compile_command, needs=("torch",))
