"""Packages that studies need: their tests are skipped without one, which is not imported to find out."""

from importlib.util import find_spec

import pytest


def needs(package: str, what: str) -> pytest.MarkDecorator:
    """A mark for a module: importing such packages takes half a second, in every process that lists the tests."""
    reason = f"{what} needs {package}: pip install 'tvm_pulp[dse]'"
    return pytest.mark.skipif(find_spec(package) is None, reason=reason)
