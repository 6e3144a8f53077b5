"""Shows the scripts of examples/paper and the notebooks as pages of the site, and leads links to them there."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

SCRIPTS = Path(__file__).parents[1] / "examples" / "paper"
NOTEBOOKS = Path(__file__).parent / "notebooks"
LINK = re.compile(r"\]\(\.\./\.\./examples/paper/(\w+)\.py\)")
NOTEBOOK_LINK = re.compile(r"\]\(([\w-]+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add one page per script, and one per notebook."""
    pages = {
        f"paper/scripts/{path.stem}.md": f"# {path.name}\n\n```python\n{path.read_text(encoding='utf-8')}```\n"
        for path in sorted(SCRIPTS.glob("*.py"))
    }
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        pages[f"notebooks/{path.stem}-notebook.md"] = "\n\n".join(_shown(path)) + "\n"
    for name, content in pages.items():
        page = File.generated(config, name, content=content)
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def _shown(path: Path) -> Iterator[str]:
    """Yield texts, code and outputs of a notebook in Markdown, and where it can be had."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        yield source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        yield from map(_output, cell.get("outputs", []))
    yield f"The notebook itself: <a href='../{path.name}' download>{path.name}</a>."


def _output(output: Any) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        return f"![What the code above draws](data:image/png;base64,{data['image/png'].strip()})"
    text = "".join(output["text"] if output["output_type"] == "stream" else data["text/plain"])
    return f"```text\n{text.rstrip()}\n```"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Turn links to scripts and notebooks in the repository into links to their pages."""
    return NOTEBOOK_LINK.sub(r"](\1-notebook.md)", LINK.sub(r"](scripts/\1.md)", markdown))
