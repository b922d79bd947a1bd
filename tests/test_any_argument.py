"""Whatever stands in the place of an argument, a public function refuses it in its own words, or answers."""

import inspect

import fuzzing

import workbench as wb

READ_OR_RUN = {
    "draw_rows",
    "half_sample_rho",
    "openml_population",
    "read_label_sheet",
    "write_label_sheet",
    "load_periods",
    "read_item_scores",
    "replay",
    "replay_list",
    "simulate_type_one",
}


def test_no_argument_ends_in_somebody_elses_error():
    assert [*fuzzing.problems(2_000, seed=1)] == []


def test_no_damaged_file_ends_in_somebody_elses_error():
    assert [*fuzzing.problems_of_files(220, seed=1)] == []


def test_every_public_function_is_called():
    known = {call.__name__ for call, *_ in (*fuzzing.CALLS, *fuzzing.CALLED)}
    assert {
        name for name in wb.__all__ if inspect.isfunction(getattr(wb, name))
    } - known == READ_OR_RUN


def test_each_call_is_right_as_it_stands():
    for call, arguments, more in fuzzing.TAKING[len(fuzzing.CALLS) :]:
        call(*arguments, **more)
