"""Shows the scripts of examples/paper as pages of the site, and leads links to them there."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

SCRIPTS = Path(__file__).parents[1] / "examples" / "paper"
LINK = re.compile(r"\]\(\.\./\.\./examples/paper/(\w+)\.py\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add one page per script."""
    for path in sorted(SCRIPTS.glob("*.py")):
        content = f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
        page = File.generated(config, f"paper/scripts/{path.stem}.md", content=content)
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn links to scripts in the repository into links to their pages."""
    return LINK.sub(r"](scripts/\1.md)", markdown)
