"""Runs the notebooks of docs/notebooks and stores what they print and draw: `python tools/notebooks.py [NAME ...]`.

Tests run them too, and compare what is printed with what is stored.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def read(path: Path) -> Any:
    """Return a notebook as it is stored."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def executed(path: Path) -> Any:
    """Return a notebook with what its cells print and draw now; an error in a cell is raised."""
    notebook = read(path)
    # Nothing of the user's settings counts, and nothing is left behind.
    with TemporaryDirectory() as folder, patch.dict(os.environ, IPYTHONDIR=folder, JUPYTER_PLATFORM_DIRS="1"):
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}, record_timing=False).execute()
    return notebook


def printed(notebook: Any) -> list[str]:
    """Return what each cell of code prints and shows as text; pictures have none."""
    return ["".join(map(_text, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"]


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text)
    return "" if "image/png" in output.data else str(output.data["text/plain"])


def main() -> None:
    """Run the notebooks that are named, or all, and store them."""
    for path in [FOLDER / f"{name}.ipynb" for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")):
        notebook = executed(path)
        for cell in notebook.cells:
            # Tables are shown as text, and texts of pictures hold addresses in memory.
            for output in cell.get("outputs", []):
                data = output.get("data", {})
                data.pop("text/html", None)
                if "image/png" in data:
                    data.pop("text/plain", None)
        notebook.metadata = {"language_info": {"name": "python"}}
        nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
        print(path)


if __name__ == "__main__":
    main()
