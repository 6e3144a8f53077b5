"""What is said where Spark fails, and what its workers need; without Spark."""

import pytest

from coterie.log.spark import _packed, _reason

WORKER = """An error occurred while calling o1.getResult.
: SparkException: Exception thrown in awaitResult:
\tat a.b.c(d.scala:1)
Caused by: PythonException: Traceback (most recent call last):
  File "worker.py", line 1, in main
ModuleNotFoundError: No module named 'pyarrow'

\tat e.f(g.scala:2)"""
DISK = "An error occurred.\n: java.io.IOException: No space left on device\n\tat a.b(c.java:3)"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "ValueError"),
        ("[TABLE_OR_VIEW_NOT_FOUND] no such table\nat line 1", "[TABLE_OR_VIEW_NOT_FOUND] no such table"),
        (WORKER, "ModuleNotFoundError: No module named 'pyarrow'"),
        (DISK, "java.io.IOException: No space left on device"),
    ],
)
def test_the_innermost_reason_is_told(said, reason):
    assert _reason(ValueError(said)) == reason


def test_workers_need_nothing_of_ours():
    """Cloudpickle sends functions by value where they are within others, by name of their module otherwise."""
    assert "<locals>" in _packed(10).__qualname__
