"""Charts of allocation: labels against the size of each stratum, standard errors, priorities, streams.

As for stratified accuracy there are three functions for each picture: `..._data` gives its rows, `..._words` its
title and text alternative, and the picture itself is an altair chart built from both.
"""
from workbench.charts.allocation.places import (
    next_label,
    next_label_data,
    next_label_words,
    place_value,
    place_value_data,
    place_value_words,
    placed,
    placed_data,
    placed_words,
    register,
    register_words,
    wished,
)
from workbench.charts.allocation.plans import (
    allocation,
    allocation_data,
    allocation_words,
    methods,
    methods_data,
    methods_words,
)
from workbench.charts.allocation.streams import (
    floors,
    floors_data,
    floors_words,
    jump,
    jump_data,
    jump_words,
    stream,
    stream_data,
    stream_words,
    trend,
    trend_data,
)
from workbench.charts.allocation.words import METHODS, STREAMED

__all__ = [
    "METHODS", "STREAMED", "allocation", "allocation_data", "allocation_words", "floors", "floors_data",
    "floors_words", "jump", "jump_data", "jump_words", "methods", "methods_data", "methods_words", "next_label",
    "next_label_data", "next_label_words", "place_value", "place_value_data", "place_value_words", "placed",
    "placed_data", "placed_words", "register", "register_words", "stream", "stream_data", "stream_words", "trend",
    "trend_data", "wished",
]
