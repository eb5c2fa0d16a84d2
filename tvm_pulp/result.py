"""The result of a run: outputs, the report, and on request every layer, to be compared with the model's framework."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvm_pulp.errors import UserError
from tvm_pulp.output_files import write_output

if TYPE_CHECKING:
    from tvm_pulp.compilation import Compilation
    from tvm_pulp.qnn.network import Tensor
    from tvm_pulp.report.html import RunDetails
    from tvm_pulp.report.verify import LayerTable


@dataclass(frozen=True, repr=False)
class Result:
    """Outputs by graph name in graph order, and the report."""

    outputs: dict[str, np.ndarray]
    report: dict[str, Any]
    # What the checks of a debug build found, in one sentence.
    debug: str | None = None
    # What every layer made, by its name, where that was asked for.
    layers: dict[str, np.ndarray] | None = None
    # The stages that made the program, where it was compiled in this process, and what it was given.
    compilation: "Compilation | None" = None
    inputs: Sequence[np.ndarray] = ()
    # What a page shows beyond the report.
    details: "RunDetails | None" = field(default=None, compare=False)

    def __repr__(self) -> str:
        """One line: what the run took, and what came out."""
        from tvm_pulp.report.table import summary

        outputs = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in self.outputs.items())
        where = f"{self.report['target']} on {self.report['soc'] or 'host'}"
        return f"Result({where}: {summary(self.report)}; outputs: {outputs})"

    def _repr_html_(self) -> str:
        """The result as notebooks show it."""
        from tvm_pulp.report.rich_display import result_html

        return result_html(self.report, self.outputs)

    def to_html(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """The report as one self-contained page, also written to a file if one is named; `title` heads it."""
        from tvm_pulp.report.html import run_page

        details = self._details("to_html")
        return _written(run_page(self.report, details, title or details.metadata["model_name"]), path)

    def to_svg(self, path: str | Path | None = None, *, title: str | None = None) -> str:
        """The timeline of the run as a picture, also written to a file if one is named; `title` heads it."""
        from tvm_pulp.report.run_picture import run_timeline

        details = self._details("to_svg")
        heading = f"{details.metadata['model_name']}: {self.report['target']} on {self.report['soc']}"
        return _written(run_timeline(details, title or heading), path)

    def _details(self, caller: str) -> "RunDetails":
        if self.details is None:
            raise UserError(f"this result holds no details of its run: call {caller}() on what App.run() returned")
        return self.details

    def compare(self, reference: str | Path | Mapping[str, np.ndarray] | None = None) -> "LayerTable":
        """Every layer beside what a framework makes of the same inputs, or beside arrays by the model's own names.

        Without a reference, the framework's result for the model that was compiled. Of a run with `layers=True`:
        `table.first_wrong` is the first layer that differs more than it may.
        """
        from tvm_pulp.report.verify import compare_layers, given_values, model_values

        if self.layers is None or self.compilation is None:
            raise UserError(
                "compare() needs what layers made: compile(..., keep_layers=True) and run(..., layers=True)"
            )
        network = self.compilation.entry.partitioned
        if isinstance(reference, Mapping):
            values = given_values(reference)
        else:
            given = {t.source: _as_stated(t, a) for t, a in zip(network.inputs, self.inputs, strict=True)}
            values = model_values(_model(reference or self.compilation.model), self.compilation.imported, given)
        engines = {layer["name"]: layer["engine"] for layer in self.report["layers"]}
        bounds = {layer["name"]: layer["deviation_lsb"] or 0 for layer in self.report["layers"]}
        computed = {**self.layers}
        for tensor, value in zip(network.outputs, self.outputs.values(), strict=True):
            for layer in network.layers:
                if layer.outputs[0].storage is tensor.storage and layer.name not in computed:
                    computed[layer.name] = value
        return compare_layers(network, self.inputs, computed, values, engines, bounds)


def _written(text: str, path: str | Path | None) -> str:
    """The text, which is also written to a file if one is named."""
    if path is not None:
        write_output(path, text)
    return text


def _as_stated(tensor: "Tensor", array: np.ndarray) -> np.ndarray:
    """An input as the model takes it: floats, where `--io` made it integer."""
    if tensor.quantization is None:
        return array
    real = (array.astype(np.float64) - tensor.quantization.zero_point) * tensor.quantization.scale
    return real.astype(np.float32)


def _model(model: Any) -> Any:
    """A file, an ONNX model of the zoo, or what is in memory already."""
    if not isinstance(model, str | Path):
        return model
    if not str(model).startswith("zoo:"):
        return Path(model)
    from tvm_pulp.frontend import zoo

    return zoo.build(str(model).removeprefix("zoo:"))
