"""Platform `tvmpulp_platform`: the COMPILE stage, in which an archive becomes a program; the targets."""

import json
from pathlib import Path
from typing import Any, ClassVar

from mlonmcu.artifact import Artifact, ArtifactFormat
from mlonmcu.platform.platform import CompilePlatform, TargetPlatform
from mlonmcu.target.metrics import Metrics

from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.tvmc.mlonmcu import names
from tvm_pulp.tvmc.mlonmcu.backend import ARCHIVE, file_artifact, metrics_of
from tvm_pulp.tvmc.mlonmcu.tool import run_tool

PROGRAM = "generic_mlonmcu"
TOOLCHAIN = "toolchain"


class TvmPulpPlatform(CompilePlatform, TargetPlatform):
    """Builds archives with the compilers of tvm_pulp and offers its SoCs as targets."""

    FEATURES: ClassVar[set[str]] = set()
    DEFAULTS: ClassVar[dict[str, Any]] = {TOOLCHAIN: None}

    def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
        super().__init__(names.PLATFORM, features=features, config=config)

    def init_directory(self, path: Path | None = None, context: Any = None) -> Path | None:
        """Nothing is kept beside the artifacts."""
        return None

    def _get_supported_targets(self) -> list[str]:
        return list(names.targets())

    def create_target(self, name: str) -> type[Any]:
        """The class of a target, bound to this platform."""
        from tvm_pulp.tvmc.mlonmcu.target import TvmPulpTarget

        platform = self

        class PlatformTarget(TvmPulpTarget):
            """A target of the platform that made it."""

            def __init__(self, features: Any = None, config: dict[str, Any] | None = None) -> None:
                super().__init__(name, features=features, config=config)
                self.platform = platform

        return PlatformTarget

    def generate(
        self, src: Path, target: Any, model: Any = None
    ) -> tuple[dict[str, list[Artifact]], dict[str, Metrics]]:
        """The program of the archive in `src`."""
        archive = Path(src) / ARCHIVE
        with TemporaryFolder() as folder:
            program, sizes = folder / PROGRAM, folder / "sizes.json"
            chosen = self.config[TOOLCHAIN]
            said = run_tool(
                "tvm_pulp.tvmc.mlonmcu.build_program",
                [str(archive), str(program), str(sizes), *(["--toolchain", str(chosen)] if chosen else [])],
            )
            artifacts = [
                file_artifact(program),
                Artifact(f"{self.name}_out.log", content=said, fmt=ArtifactFormat.TEXT),
            ]
            return {"default": artifacts}, {"default": metrics_of(json.loads(sizes.read_text(encoding="utf-8")))}
