"""The page that everybody may see: teams, and nothing that anybody thinks of anybody."""

from dataclasses import replace

import pytest

import coterie
from coterie.report import announcement_html
from coterie.report.page import label
from report_logs import Elements


def test_it_says_who_is_where_and_nothing_else(hostile):
    result = replace(hostile.result, title="Spring <b>teams</b>", date="1 May")
    told = {text.strip() for text in Elements(announcement_html(result)).text} - {""}
    strategy = result.strategy
    inside = {name: len(members) for name, members in strategy.members().items() if members}
    names = {label(name) for name in (*strategy.agents, *inside)}
    words = {"Spring <b>teams</b>", "1 May", "Teams", "People", "person", "team", ","}
    assert told == names | words - {","} | {f"{size} people" for size in inside.values()} | told & {","}


def test_nothing_runs_and_nothing_is_asked_of_the_network(hostile):
    page = Elements(announcement_html(hostile.result))
    for tag, attributes in page.tags:
        assert tag not in {"script", "img", "link", "iframe", "object", "embed", "base", "form", "a"}
        assert not {"src", "href", "style"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    policy = next(one["content"] for tag, one in page.tags if one.get("http-equiv") == "Content-Security-Policy")
    assert "script-src" not in policy
    assert "default-src 'none'" in policy


def test_chances_are_no_teams(hostile):
    strategy = coterie.Strategy.mixed([([[True], [False]], [0.5, 0.5])] * 2, ["Ada", "Bo"], ["x"])
    with pytest.raises(coterie.InputError, match="no fixed teams"):
        announcement_html(replace(hostile.result, strategy=strategy))
