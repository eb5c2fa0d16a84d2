"""The conformance kit: what the tests of any accelerator call in five lines."""

from tvm_pulp.uma.conformance.checks import Conformance
from tvm_pulp.uma.conformance.engine_pair import EnginePair

__all__ = ["Conformance", "EnginePair"]
