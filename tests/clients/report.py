"""Counts what a script of this folder checked and prints it in the form that tests/run adds up.

    with Report("the client") as report:
        with report.step("connect"):      # a failure ends the script: the next step needs this one
            ...
        report.check("colour", is_blue)   # a failure is counted and the script goes on
"""

import contextlib
import sys
import traceback


class Report:
    """Prints a line for each step and, when left, the counts; then ends the program."""

    def __init__(self, title):
        self.title, self.passed, self.failed, self.skipped = title, 0, 0, 0

    def __enter__(self):
        print(f"== {self.title}", flush=True)
        return self

    def check(self, name, holds, detail=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
        print(f"{'ok  ' if holds else 'FAIL'} {name}{': ' if detail else ''}{detail}", flush=True)
        return holds

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skip {name}: {reason}", flush=True)

    @contextlib.contextmanager
    def step(self, name):
        try:
            yield
        except BaseException as error:
            self.check(name, False, f"{type(error).__name__}: {error}"[:600])
            raise
        self.check(name, True)

    def __exit__(self, kind, error, trace):
        if error is not None:
            traceback.print_exception(kind, error, trace, limit=-4)
            if not self.failed:
                self.check("nothing unexpected happens", False, repr(error)[:600])
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}", flush=True)
        sys.exit(1 if self.failed else 0)


def expect(holds, complaint):
    """Like `assert`, but not switched off by `python -O`, and with words."""
    if not holds:
        raise AssertionError(complaint)
