"""Examples in the documentation write their files into a folder of their own."""

import pytest
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True)
def _elsewhere(request: pytest.FixtureRequest, tmp_path, monkeypatch):  # noqa: ANN001, ANN202
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(tmp_path)
