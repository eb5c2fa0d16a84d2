"""Framework `tvmpulp`: its configuration is that of all its backends."""

from typing import Any, ClassVar

from mlonmcu.flow.framework import Framework

from tvm_pulp.tvmc.mlonmcu import names, options


class TvmPulpFramework(Framework):
    """The compiler. `tvmpulp.<key>` sets a key of all its backends, unless one states it itself."""

    name = names.FRAMEWORK
    FEATURES: ClassVar[set[str]] = set()
    DEFAULTS: ClassVar[dict[str, Any]] = options.common_defaults()
    # The base class asks for TensorFlow's sources.
    REQUIRED: ClassVar[set[str]] = set()
    OPTIONAL: ClassVar[set[str]] = set()
