"""Results for people: tables of teams, and a page that explains itself."""

from coterie.report.announcement import announcement_html
from coterie.report.page import report_html
from coterie.report.tables import teams_csv, write_teams_xlsx

__all__ = ["announcement_html", "report_html", "teams_csv", "write_teams_xlsx"]
