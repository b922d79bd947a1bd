"""The numbers of every report's JSON, on realistic files, against a computation with numpy alone."""

import json

import pytest
from command import run_here
from report_numbers import TOPICS


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS)
def test_the_numbers_of_a_report_are_those_of_numpy(tmp_path, topic):
    def report(*words):
        done = run_here(tmp_path, "report", *words, "--quiet")
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / words[-1]).read_text(encoding="utf-8"))

    TOPICS[topic](tmp_path, 20_000, report)
