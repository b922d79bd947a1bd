"""Pages are written in short sentences and in the terms of the field."""

import re
from pathlib import Path

import pytest
import texts

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "docs/howto", "docs/methods", "docs/evidence", "notebooks/instructor")
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")),
]
MEDIAN, MOST_OF_TWENTY, MOST = 18, 30, 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_sentences_are_short(page):
    lengths = texts.lengths(page.read_text(encoding="utf-8"))
    if len(lengths) >= 5:
        assert lengths[len(lengths) // 2] <= MEDIAN
        assert lengths[int(0.95 * len(lengths))] <= MOST_OF_TWENTY
    assert not lengths or lengths[-1] <= MOST


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_words_of_the_field_are_used(page):
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"(?ms)^```.*?^```\s*$|`[^`]*`", "", text)
    assert [word for word in texts.LEFT_OUT if re.search(word, prose, re.I)] == []


def test_a_long_sentence_and_a_list_are_counted():
    page = "# Title\n\nOne two. Three four five.\n\n- six seven\n- eight `code` nine\n\n| a | b |\n"
    assert texts.lengths(page) == [2, 2, 3, 3]
    assert texts.lengths(" ".join(["word"] * 41) + ".") == [41]
