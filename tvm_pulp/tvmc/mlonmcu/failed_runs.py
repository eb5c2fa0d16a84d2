"""A run that failed stays failed, and the report says why.

MLonMCU 0.9 clears the mark of a failed run when its postprocesses run in the same step (`runs_per_stage: false`, which
every executor but the default needs), and its reports name the class of an exception only.
"""

from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.mlonmcu.tool import StageFailed

_MARK = "_tvm_pulp_keeps_failures"


def keep_failures() -> None:
    """Correct MLonMCU's class of runs, once."""
    from mlonmcu.session.run import Run, RunStage

    if getattr(Run, _MARK, False):
        return
    process, reason_text = Run.process, Run.get_reason_text

    def process_unless_failed(
        self: Any, until: Any = RunStage.RUN, start: Any = None, skip: Any = None, export: bool = False
    ) -> Any:
        if self.failing and start == RunStage.POSTPROCESS:
            return self.get_report()
        return process(self, until=until, start=start, skip=skip, export=export)

    def whole_reason(self: Any) -> str | None:
        text: str | None = reason_text(self)
        if isinstance(self.reason, StageFailed | UserError):
            return f"{text}: {str(self.reason).splitlines()[0]}"
        return text

    Run.process, Run.get_reason_text = process_unless_failed, whole_reason
    setattr(Run, _MARK, True)
