"""Commands know no data frames: Arrow is told so before it looks.

Arrow loads pandas where it is installed, a fifth of a second, to see whether a list is one of its columns. It looks
once, and once more where pandas is really asked for.
"""

import sys
from importlib.abc import MetaPathFinder


class _Hidden(MetaPathFinder):
    """Finds no pandas."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def hide_frames() -> None:
    """Let Arrow, if it is loaded, look for pandas now, and not find it unless it is loaded too."""
    arrow = sys.modules.get("pyarrow")
    if arrow is None:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        arrow.array([])
    finally:
        sys.meta_path.remove(hidden)
