"""The views of the report for notebooks; they need matplotlib (`pip install "coterie[figures]"`)."""

from coterie.plot.views import plot_gains, plot_meetings, plot_options, plot_pairs, plot_people, plot_teams

__all__ = ["plot_gains", "plot_meetings", "plot_options", "plot_pairs", "plot_people", "plot_teams"]
