"""Documentation names what exists: files in tables and text, fields of the typed formats."""

import re
from pathlib import Path
from typing import Any

import pytest

from tvm_pulp.codegen.formats import PlanJson, ReportJson, json_schema

REPOSITORY = Path(__file__).resolve().parent.parent
SINGLE_TFLITE = REPOSITORY / "tests" / "frontend" / "single_tflite.py"
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [t for t in targets if "://" not in t and not (page.parent / t).exists()] == []


def test_the_glossary_names_files_that_exist() -> None:
    text = (REPOSITORY / "docs" / "glossary.md").read_text(encoding="utf-8")
    named = [name for row in re.findall(r"^\|.*\|$", text, re.M) for name in re.findall(r"`([\w/]+(?:\.py|/))`", row)]
    assert len(named) > 40
    roots = (REPOSITORY, REPOSITORY / "tvm_pulp")
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


def test_the_planning_page_names_files_that_exist() -> None:
    text = (REPOSITORY / "docs" / "planning.md").read_text(encoding="utf-8")
    missing = []
    for row in re.findall(r"^\| \w+ \| (.*?) \|", text, re.M):
        folder = Path()
        for name in re.findall(r"`([\w/*]+(?:\.py|/))`", row):
            # A name without a folder lies beside the one before it.
            found = [*REPOSITORY.glob(name), *(REPOSITORY / "tvm_pulp").glob(name), *folder.glob(name)]
            missing += [] if found else [name]
            folder = found[0].parent if found and found[0].is_file() else folder
    assert missing == []


def fields(schema: dict[str, Any]) -> set[str]:
    """Names of all fields, those of nested parts too."""
    found = set(schema.get("properties", {}))
    for part in schema.get("$defs", {}).values():
        found |= set(part.get("properties", {}))
    return found


@pytest.mark.parametrize(
    ("pages", "schema"),
    [
        (["plan_json.md"], json_schema(PlanJson)),
        # The planner is the same in both.
        (["report_json.md", "plan_json.md"], json_schema(ReportJson)),
    ],
)
def test_every_field_is_documented(pages: list[str], schema: dict[str, Any]) -> None:
    text = "".join((REPOSITORY / "docs" / page).read_text(encoding="utf-8") for page in pages)
    known = set(re.findall(r"\w+", text))
    assert sorted(fields(schema) - known) == []


def test_which_results_are_meant_is_stated() -> None:
    """TFLite's kernels disagree with each other: the page names the ones that the tests compare with."""
    resolver = re.findall(r"experimental_op_resolver_type=(OpResolverType\.\w+)", SINGLE_TFLITE.read_text())
    page = (REPOSITORY / "docs" / "arithmetic.md").read_text(encoding="utf-8")
    assert resolver and all(f"`{name}`" in page for name in resolver)
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert "docs/arithmetic.md" in readme and "*reference* kernels" in readme and "XNNPACK" in readme
    assert "framework's own" not in readme
