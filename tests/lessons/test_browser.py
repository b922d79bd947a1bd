"""Charts, controls and lessons in a real browser: one server of each kind, one Chromium."""

import browser
import pytest

LESSON = """
import altair as alt
import ipywidgets
from workbench.charts import theme
from workbench.widgets import ChartView, image, panel

def rows(n):
    return {"bars": [{"stratum": k, "labeled": n + k} for k in range(1, 6)], "truth": [{"y": n / 2}]}

bars = alt.Chart(theme.rows("bars")).mark_bar(style="labeled").encode(
    x="stratum:O", y=alt.Y("labeled:Q", scale=alt.Scale(domain=[0, 120])))
truth = alt.Chart(theme.rows("truth")).mark_rule(style="truth").encode(y="y:Q")
view = ChartView(theme.finish(bars + truth, "Labels", "No labels yet."))
slider = ipywidgets.IntSlider(description="Labels per stratum", min=10, max=100, value=50)

def draw(_=None):
    n = slider.value
    view.show(rows(n), f"{n} labels in each of 5 strata.", title=f"Each stratum gets {n}")

slider.observe(draw, "value")
draw()
panel([slider], view)
"""
AGAIN = "view"
BUSY = "import os, time\nprint('The kernel waits.', flush=True)\nwhile not os.path.exists({!r}): time.sleep(.05)"
OTHER = 'ChartView(theme.finish(bars, "Other", "Another chart."))'
STATIC = 'image(theme.finish(bars.properties(data=theme.rows("b", rows(3)["bars"])), "Static", "A static chart."))'
LATE = """
broken = ChartView(theme.finish(
    alt.Chart(theme.rows("z", [{"x": {"y": 1}}])).mark_bar().transform_calculate(q="datum.x.y").encode(x="q:Q"),
    "Fine", "Fine."))
broken
"""
BREAK = 'broken.show({"z": [{"x": None}]}, "Broken.")'
REPAIR = 'broken.show({"z": [{"x": {"y": 2}}]}, "Repaired.")'

# views of lessons, the sliders among them, what is pressed, and the title of which chart begins how, before and after
CONTROLS = {
    "replication": (
        (
            "from workbench.lessons.replication import views as live\nlive.fourteen_boxes()",
            "live.array_builder()",
        ),
        (
            "Labels per box",
            "Units per stratum s",
            "Columns (strata)",
            "First column",
            "Second column",
        ),
        (
            (0, "ArrowLeft", 0, "1,797 labels in 14 boxes", "1,596 labels in 14 boxes"),
            (2, "ArrowRight", 1, "", "27 runs, 9 columns"),
        ),
    ),
    "misclassification": (
        (
            "from workbench.lessons.misclassification import views as live\nlive.months()",
            "live.mosaic()",
        ),
        (
            "New true proportion (α′)",
            "Forms audited (n)",
            "Others read correctly (p00)",
            "Panels read correctly (p11)",
            "True proportion of panels (α)",
        ),
        (
            (0, "ArrowRight", 0, "", "Reported part of a rise by 6.0 points"),
            (
                4,
                "ArrowRight",
                1,
                "Counted 12.13%, true 10.02%: 2.11 points too many",
                "Counted 13.74%, true 12.00%",
            ),
        ),
    ),
    "cross-validation": (
        (
            "from workbench.lessons.cross_validation import views as live\nlive.two_clerks()",
            "live.one_slider()",
        ),
        ("Repeats of the cross-validation", "Studies shown", "Assumed value"),
        (
            (
                0,
                "ArrowRight",
                0,
                "naive t: 6 of 40 studies call two equal clerks different; in the long run 7.0%",
                "naive t: 12 of 40 studies",
            ),
            (
                2,
                "ArrowRight",
                1,
                "rho 0 (r 0): p .0399, significant at 5%",
                "rho .050 (r .005): p .0440, significant at 5%",
            ),
        ),
    ),
}
BUTTONS = "from workbench.lessons.allocation import views as live\nlive.one_label_at_a_time()"
CHARTS = 2 * len(CONTROLS) + 1


@pytest.fixture(scope="module")
def opened(lab, tmp_path_factory):
    """The views of a made lesson; what the chart said while the kernel was busy."""
    done = tmp_path_factory.mktemp("busy") / "done"
    with lab.show(LESSON, BUSY.format(str(done)), AGAIN, OTHER, STATIC, LATE) as page:
        browser.ready(page)
        page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        browser.shows_chart(page)
        page.wait_for_selector(".jp-OutputArea >> text=The kernel waits.")
        first = browser.chart(page)
        done.touch()
        browser.shows_chart(page, 5)
        yield page, first


@pytest.fixture(scope="module")
def views(lab):
    """Views of lessons 2 to 5."""
    with lab.show(*(view for views, _, _ in CONTROLS.values() for view in views), BUTTONS) as page:
        browser.run_all(page)
        browser.shows_chart(page, CHARTS)
        browser.slider(page, sum(len(names) for _, names, _ in CONTROLS.values()) - 1)
        yield page


@pytest.fixture
def lesson(opened):
    """The page; a test leaves it as it was."""
    return opened[0]


def says(shown, number):
    assert shown["text"] == f"{number} labels in each of 5 strata."
    assert shown["label"] == shown["svg_label"] == shown["text"]
    assert set(shown["other_labels"]) == {shown["text"]}
    assert shown["title"] == f"Each stratum gets {number}"


def moves_the_chart(page):
    before = browser.chart(page)
    says(before, 50)
    handle = browser.slider(page)
    assert handle.get_attribute("aria-label") == "Labels per stratum"
    handle.focus()
    moved = browser.after(page, lambda: page.keyboard.press("ArrowRight"))
    says(moved, 51)
    assert len(moved["marks"]) == len(before["marks"]) == 5
    assert all(new != old for new, old in zip(moved["marks"], before["marks"], strict=True))
    assert [browser.chart(page, index)["text"] for index in (1, 2)] == [
        "51 labels in each of 5 strata.",
        "Another chart.",
    ]
    says(browser.after(page, lambda: page.keyboard.press("ArrowLeft")), 50)


def test_slider_moves_the_chart_in_lab(lesson):
    moves_the_chart(lesson)
    assert lesson.console_errors == [] and lesson.outside == []


def test_chart_follows_the_theme_in_lab(lesson):
    light = browser.chart(lesson)
    browser.set_theme(lesson, dark=True)
    lesson.wait_for_function(
        "fill => [...document.querySelectorAll('.workbench-chart .role-axis text')]"
        ".every(text => getComputedStyle(text).fill !== fill)",
        arg=light["fill"],
    )
    dark = browser.chart(lesson)
    assert (light["fill"], dark["fill"]) == ("rgb(89, 89, 89)", "rgb(192, 192, 192)")
    assert dark["marks"] == light["marks"]
    moves_the_chart(lesson)
    browser.set_theme(lesson, dark=False)
    lesson.wait_for_function(
        "fill => getComputedStyle(document.querySelector("
        "'.workbench-chart .role-axis text')).fill === fill",
        arg=light["fill"],
    )
    says(browser.chart(lesson), 50)
    assert lesson.console_errors == []


def test_failed_drawing_is_told_and_the_next_one_repairs_it(lesson):
    browser.execute(lesson, BREAK)
    lesson.wait_for_selector(".workbench-chart [role=alert]")
    told = lesson.text_content(".workbench-chart [role=alert]")
    assert told.startswith("This chart could not be drawn.") and len(lesson.console_errors) == 1
    lesson.console_errors.clear()
    browser.execute(lesson, REPAIR)
    lesson.wait_for_selector(".workbench-chart [role=alert]", state="detached")
    browser.shows_chart(lesson, 5)
    assert browser.chart(lesson, 4)["label"] == "Repaired."


def test_chart_is_drawn_while_the_kernel_is_busy(opened):
    says(opened[1], 50)


@pytest.mark.full
@pytest.mark.parametrize("name", CONTROLS)
def test_controls_move_the_pictures_in_lab(views, name):
    place = list(CONTROLS).index(name)
    above = sum(len(names) for _, names, _ in list(CONTROLS.values())[:place])
    _, names, moves = CONTROLS[name]
    assert browser.sliders(views)[above : above + len(names)] == list(names)
    for number, key, index, title, moved_title in moves:
        index += 2 * place
        before = browser.chart(views, index)
        browser.slider(views, above + number).focus()
        moved = browser.after(views, lambda key=key: views.keyboard.press(key), index)
        assert before["title"].startswith(title) and moved["title"].startswith(moved_title)
        assert moved["marks"] != before["marks"]
        assert moved["label"] == moved["svg_label"] == moved["text"] != before["text"]
    assert views.console_errors == [] and views.outside == []


@pytest.mark.full
def test_buttons_give_labels_in_lab(views):
    shown = browser.after(
        views, lambda: views.get_by_role("button", name="Give all").click(), CHARTS - 1
    )
    assert shown["title"] == "All 100 labels are used: 3 + 18 + 42 + 37, exactly the optimum"
    assert shown["label"] == shown["svg_label"] == shown["text"]
    assert views.console_errors == [] and views.outside == []


def test_slider_moves_the_chart_in_voila(voila):
    with voila.show(LESSON, AGAIN, OTHER, dark=True) as page:
        browser.shows_chart(page, 3)
        moves_the_chart(page)
        assert page.outside == []
        assert page.console_errors == []
