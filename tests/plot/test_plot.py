"""Pictures for notebooks, and what notebooks show of objects."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import coterie
from coterie import plot
from coterie.simulate import Simulation
from report_logs import made

mpl.use("agg")


@pytest.fixture(scope="module")
def learner(tmp_path_factory):
    folder = made(tmp_path_factory.mktemp("plot") / "log", ["Ada", "<b>Bo</b>", "$Cy$", "Dora"], ["x", "y"], samples=40)
    return coterie.StableLearner(noise="pairs", today={"Ada": ["x"]}).fit(folder)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["plot_teams", "plot_people", "plot_gains", "plot_options"])
def test_pictures_of_results(learner, name):
    ax = getattr(plot, name)(learner.result_)
    assert ax.get_title()
    ax.figure.canvas.draw()
    again = plt.subplots()[1]
    assert getattr(plot, name)(learner.result_, ax=again) is again


def test_pictures_show_the_numbers(learner):
    result = learner.result_
    ax = plot.plot_people(result)
    drawn = sorted(ax.collections[-1].get_offsets()[:, 0].tolist())
    assert drawn == pytest.approx(sorted(result.estimate.utility.values()))
    places = plot.plot_teams(result.strategy).collections[0].get_offsets()
    assert len(places) == result.strategy.sets.sum()


@pytest.mark.parametrize("name", ["plot_meetings", "plot_pairs"])
def test_pictures_of_logs(learner, name, tmp_path):
    ax = getattr(plot, name)(learner.statistics_)
    drawn = np.ma.filled(ax.images[0].get_array(), np.nan)
    assert np.isnan(np.diag(drawn)).all()
    assert np.nanmax(np.abs(drawn - drawn.T)) == 0
    Simulation.draw(3, 2, np.random.default_rng(0), actions_per_agent=2).write_log(
        tmp_path / "t", 20, feedback="bandit"
    )
    with pytest.raises(coterie.InputError, match="totals of people"):
        getattr(plot, name)(tmp_path / "t")


def test_notebooks_show_text_and_nothing_else(learner):
    log = coterie.Log.from_frames(pairs=_frame())
    for shown in (learner.result_, learner.certificate_, learner.strategy_, learner.coverage_, log):
        html = shown._repr_html_()
        assert "<table>" in html
        assert "<b>" not in html
        assert "<i>" not in html
    assert "&lt;b&gt;Bo" in learner.result_._repr_html_()


def _frame():
    import pandas as pd

    columns = ["sample", "coalition", "agent", "partner", "utility"]
    return pd.DataFrame([("1", "<i>x</i>", "<b>Bo</b>", "Cy", 0.5)], columns=columns)


def test_frames(learner):
    frame = learner.result_.to_frame()
    assert frame["person"].tolist() == list(learner.strategy_.agents)
    assert frame["value"].tolist() == pytest.approx(list(learner.result_.estimate.utility.values()))
    assert len(learner.strategy_.to_frame()) == learner.strategy_.sets.sum()
    assert list(learner.coverage_.to_frame().columns) == ["agent", "partner", "coalition", "size"]
