"""Postprocess `tvmpulp_compare`: figures of a sweep relative to a baseline row of the same model.

MLonMCU's own `compare_rows` does not work with pandas 3.
"""

from typing import Any, ClassVar

from mlonmcu.session.postprocess.postprocess import SessionPostprocess

from tvm_pulp.errors import refuse_if
from tvm_pulp.tvmc.mlonmcu import names

COLUMNS, GROUP, BASELINE = "columns", "group", "baseline"


class ComparePostprocess(SessionPostprocess):
    """Adds `<column> (rel.)`: the value divided by that of the group's baseline row.

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
