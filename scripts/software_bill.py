"""Write the software bill of materials of a wheel: CycloneDX, as PEP 770 has it lie in the wheel.

The wheel bundles no package of others; what it lists are the packages that its installation asks for, with the versions
that the tests were last passed with (constraints.txt).
"""

import json
import re
import uuid
from pathlib import Path
from typing import Any

NAME = re.compile(r"^[A-Za-z0-9._-]+")
# Code of the compiler's own runtime, which is linked into what is compiled.
LINKED = {"compiler-rt": "Apache-2.0 WITH LLVM-exception"}


def locked_versions(text: str) -> dict[str, str]:
    """Return the versions that a lock file names, by package; the first where they differ by Python."""
    found: dict[str, str] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE):
        found.setdefault(name.lower(), version)
    return found


def _asked_for(requirement: str, versions: dict[str, str]) -> dict[str, Any]:
    match = NAME.match(requirement)
    assert match is not None, requirement
    name = match.group().lower()
    tested = versions.get(name)
    package = {"type": "library", "bom-ref": name, "name": name, "scope": "required"}
    if tested is not None:
        package |= {"version": tested, "purl": f"pkg:pypi/{name}@{tested}"}
    else:
        package["purl"] = f"pkg:pypi/{name}"
    return package | {"properties": [{"name": "tvm_pulp:requirement", "value": requirement}]}


def software_bill(version: str, requirements: list[str], lock: Path) -> str:
    """Return the bill as JSON; equal inputs give equal bytes."""
    versions = locked_versions(lock.read_text(encoding="utf-8")) if lock.is_file() else {}
    packages = [_asked_for(requirement, versions) for requirement in sorted(requirements)]
    linked = [
        {"type": "library", "bom-ref": name, "name": name, "licenses": [{"expression": terms}], "scope": "required"}
        for name, terms in LINKED.items()
    ]
    reference = f"pkg:pypi/tvm-pulp@{version}"
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, reference + ''.join(sorted(requirements)))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": reference,
                "name": "tvm_pulp",
                "version": version,
                "purl": reference,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [*packages, *linked],
        "dependencies": [{"ref": reference, "dependsOn": [part["bom-ref"] for part in (*packages, *linked)]}],
    }
    return json.dumps(bill, indent=2) + "\n"
