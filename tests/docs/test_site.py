"""The documentation builds as a site with an API reference; warnings are errors."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

MISSING = [name for name in ("mkdocs", "mkdocstrings_handlers") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason="MkDocs is not installed: pip install -e .[docs]")


def test_the_site_builds_without_a_warning(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    pages = {page.stem for page in (repository / "docs").glob("*.md")} - {"index"}
    assert [name for name in sorted(pages) if not (site / name / "index.html").is_file()] == []
    broken = [page.parent.name for page in site.rglob("index.html") if "```" in page.read_text(encoding="utf-8")]
    assert broken == [], "a block was taken for running text"
    # What scripts of the theme look for: style sheets to switch, sections by names that are selectors.
    texts = {page: page.read_text(encoding="utf-8") for page in site.rglob("index.html")}
    assert [page for page, text in texts.items() if text.count('id="hljs-') != 2 or re.search(r'id="[0-9]', text)] == []
    assert (site / "site.css").is_file()
    reference = (site / "api" / "index.html").read_text(encoding="utf-8")
    for name in ("tvm_pulp.api.compile", "tvm_pulp.app.App.run", "tvm_pulp.result.Result.to_html"):
        assert f'id="{name}"' in reference


def test_a_broken_link_is_found(repository: Path, tmp_path: Path) -> None:
    """The same settings, with one page that links to nothing."""
    settings = yaml.safe_load((repository / "mkdocs.yml").read_text(encoding="utf-8"))
    for key in ("nav", "hooks", "plugins"):
        del settings[key]
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nowhere](absent.md)\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "absent.md" in done.stderr
