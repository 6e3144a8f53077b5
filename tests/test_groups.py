"""Tests that belong together stay on one worker, which starts Spark once, and runs once what pages begin with."""

import pytest


@pytest.mark.slow
@pytest.mark.xdist_group("these")
def test_groups_stay_together(request):
    """pytest-xdist tells groups by the ends of names; pytest 9.2 keeps names as they are, and there were no groups."""
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("tests are in groups only with -n and --dist loadgroup")
    assert request.node.nodeid.endswith("@these")
