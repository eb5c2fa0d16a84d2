"""Postprocesses: `tvmpulp_validate` compares outputs with what they should be, `tvmpulp_compare` figures of rows."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from mlonmcu.artifact import Artifact, lookup_artifacts
from mlonmcu.session.postprocess.postprocess import RunPostprocess, SessionPostprocess

from tvm_pulp.errors import refuse_if
from tvm_pulp.option_values import read_arrays
from tvm_pulp.tvmc.mlonmcu import names, options
from tvm_pulp.tvmc.mlonmcu.backend import GOLDEN, OUTPUTS, REFERENCE
from tvm_pulp.tvmc.mlonmcu.tool import StageFailed

TOLERANCE, REPORT_ONLY = "tolerance", "report"


class WrongOutput(StageFailed):
    """The outputs of a run are not what they should be."""


class ValidatePostprocess(RunPostprocess):
    """Adds `Validation` and what was compared with. A run whose outputs differ fails, unless `report` is set."""

    DEFAULTS: ClassVar[dict[str, Any]] = {**RunPostprocess.DEFAULTS, TOLERANCE: 0, REPORT_ONLY: False}

    def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
        super().__init__(names.VALIDATE, features=features, config=config)

    def post_run(self, report: Any, artifacts: list[Artifact]) -> list[Artifact]:
        """Compare every value of every output."""
        outputs = _arrays(artifacts, OUTPUTS)
        if outputs is None:
            raise WrongOutput("there are no outputs to validate: use `flow run` with a tvmpulp target")
        found = ((source, _arrays(artifacts, name)) for source, name in (("golden", GOLDEN), ("numpy", REFERENCE)))
        source, expected = next((pair for pair in found if pair[1] is not None), (None, None))
        if expected is None:
            raise WrongOutput(
                "nothing says what the outputs should be: put inputs.npz and outputs.npz beside the model, or drop "
                f"{names.VALIDATE}; float layers have no reference of their own"
            )
        wrong = difference(outputs, expected, float(self.config[TOLERANCE]))
        if wrong is not None and not options.switch(REPORT_ONLY, self.config[REPORT_ONLY]):
            raise WrongOutput(f"{wrong} ({source} reference)")
        report.main_df["Validation"] = wrong is None
        report.main_df["Validation Reference"] = source
        return []


def _arrays(artifacts: Sequence[Artifact], name: str) -> dict[str, np.ndarray] | None:
    found = lookup_artifacts(artifacts, name=name, first_only=True)
    if not found or found[0].path is None:
        return None
    return dict(read_arrays(str(found[0].path), name))


def difference(outputs: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: float) -> str | None:
    """The difference in one sentence; None where there is none. By name, else in order."""
    if len(outputs) != len(expected):
        return f"the network has {len(outputs)} outputs, the reference {len(expected)}"
    by_name = outputs.keys() == expected.keys()
    for position, (name, made) in enumerate(outputs.items()):
        wanted = expected[name] if by_name else list(expected.values())[position]
        if made.size != wanted.size:
            return f"output '{name}' has {made.size} values, the reference {wanted.size}"
        one, other = made.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
        apart = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0, np.abs(one - other))
        count = int(np.count_nonzero(~(apart <= tolerance)))
        if count:
            return f"output '{name}' differs in {count} of {made.size} values, by up to {apart.max():g}"
    return None


COLUMNS, GROUP, BASELINE = "columns", "group", "baseline"


class ComparePostprocess(SessionPostprocess):
    """Adds `<column> (rel.)`: the value divided by that of the group's baseline row of the same model.

    MLonMCU's own `compare_rows` does not work with pandas 3.
    `baseline=Backend=NAME` names the row; by default it is the first of its group.
    """

    DEFAULTS: ClassVar[dict[str, Any]] = {
        **SessionPostprocess.DEFAULTS,
        COLUMNS: "Total Cycles,Total Instructions",
        GROUP: "Model",
        BASELINE: None,
    }

    def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
        super().__init__(names.COMPARE, features=features, config=config)

    def post_session(self, report: Any) -> None:
        """Divide; a group without a baseline, or whose baseline failed, stays empty."""
        frame = report.df
        groups = [name.strip() for name in str(self.config[GROUP]).split(",")]
        for name in groups:
            refuse_if(name not in frame.columns, f"{names.COMPARE}.{GROUP}: the report has no column '{name}'")
        chosen = frame.drop_duplicates(groups) if self.config[BASELINE] is None else frame[self._is_baseline(frame)]
        rows = {tuple(row[name] for name in groups): row for _, row in chosen.iterrows()}
        for column in (name.strip() for name in str(self.config[COLUMNS]).split(",")):
            if column not in frame.columns:
                continue
            baselines = [rows.get(tuple(row[name] for name in groups)) for _, row in frame.iterrows()]
            report.main_df[f"{column} (rel.)"] = [
                value / base[column] if base is not None and base[column] else None
                for value, base in zip(frame[column], baselines, strict=True)
            ]

    def _is_baseline(self, frame: Any) -> Any:
        column, equals, value = str(self.config[BASELINE]).partition("=")
        refuse_if(
            not equals or column not in frame.columns,
            f"{names.COMPARE}.{BASELINE}={self.config[BASELINE]}: say COLUMN=VALUE of the report",
        )
        return frame[column].astype(str) == value
