import base64
import gzip
import json
import os
import struct
from pathlib import Path

import altair as alt
import numpy as np
import pytest
from refusals import refused

from workbench import checks
from workbench.charts import theme
from workbench.reports.build import NOT_SERVED, kernel_manager_class
from workbench.widgets import ChartView, chart_view, image, pages, panel, pictures, vega_bundle

WIDGET = "application/vnd.jupyter.widget-view+json"


def layered():
    bars = (
        alt.Chart(theme.rows("bars")).mark_bar(style="labeled").encode(x="stratum:O", y="labeled:Q")
    )
    truth = alt.Chart(theme.rows("truth", [{"y": 3}])).mark_rule(style="truth").encode(y="y:Q")
    return theme.finish(bars + truth, "Nothing labeled yet", "No labels yet.")


def bars(*counts):
    return {"bars": [{"stratum": k, "labeled": count} for k, count in enumerate(counts, 1)]}


def svg(view):
    import vl_convert

    spec = view.spec | {"datasets": view.picture["data"]}
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def brightness(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    low, high = sorted([brightness(a), brightness(b)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_roles_and_text_stand_out(look):
    roles = [
        theme.RANDOM,
        theme.STRATIFIED,
        theme.LABELED,
        theme.UNLABELED,
        theme.ESTIMATE,
        theme.MISS,
    ]
    assert min(contrast(color, look["background"]) for color in roles) >= 3
    texts = [look["axis"]["labelColor"], look["title"]["color"], look["style"]["note"]["color"]]
    assert min(contrast(color, look["background"]) for color in texts) >= 4.5


def test_light_and_dark_set_the_same_things():
    def paths(part, at=()):
        return {
            p
            for key, value in part.items()
            for p in (paths(value, (*at, key)) if isinstance(value, dict) else {(*at, key)})
        }

    assert paths(theme.LIGHT) == paths(theme.DARK)


def test_named_data_is_taken_out_of_the_spec():
    view = ChartView(layered())
    assert view.picture["data"] == {"bars": [], "truth": [{"y": 3}]}
    assert "values" not in json.dumps(view.spec)
    assert "description" not in view.spec


def test_named_data_is_found_in_combined_charts():
    view = ChartView(
        alt.hconcat(layered().layer[0], alt.vconcat(layered().layer[1])), alternative="Two charts."
    )
    assert set(view.picture["data"]) == {"bars", "truth"}


def test_unnamed_data_stays_in_the_spec():
    view = ChartView(
        alt.Chart(alt.Data(values=[{"x": 1}])).mark_bar().encode(x="x:Q"), alternative="One bar."
    )
    assert view.picture["data"] == {} and view.spec["data"] == {"values": [{"x": 1}]}


def test_show_changes_data_title_and_words_in_one_message(monkeypatch):
    view, sent = ChartView(layered()), []
    monkeypatch.setattr(view, "send_state", lambda key=None: sent.append(key))
    view.show(bars(4, 6), "Six in the second stratum.", title="Ten labels")
    assert len(sent) == 1 and "picture" in sent[0]
    assert view.picture["data"] == bars(4, 6) | {"truth": [{"y": 3}]}
    assert view.picture["params"] == {"heading": ["Ten labels"]}
    assert view.alternative == "Six in the second stratum."
    assert repr(view) == "ChartView: Six in the second stratum."


def test_rows_become_plain_json():
    view = ChartView(layered())
    view.show({"bars": [{"stratum": np.int64(1), "labeled": np.float64("nan")}]}, "Nothing.")
    assert (
        json.dumps(view.picture["data"]["bars"], allow_nan=False)
        == '[{"stratum": 1, "labeled": null}]'
    )


def test_unknown_names_are_refused():
    show, near = ChartView(layered()).show, "got 'bar' (did you mean 'bars'?)"
    refused(lambda: show({"bar": []}, "x"), "data", "must be one of 'bars', 'truth'", near)
    refused(lambda: show({}, "x", params={"n": 1}), "params", "must be one of 'heading'", "got 'n'")


@pytest.mark.parametrize("words", ["", "  ", 7])
def test_a_chart_says_what_it_shows(words):
    rule = "must be a text that describes the chart"
    refused(lambda: ChartView(layered(), alternative=words), "alternative", rule)
    refused(lambda: ChartView(layered()).show({}, words), "alternative", rule)


def test_a_chart_without_description_needs_words():
    chart = alt.Chart(theme.rows("bars")).mark_bar().encode(x="n:Q")
    refused(lambda: ChartView(chart), "alternative", "must be a text")


def test_image_shows_the_present_data_at_twice_the_size():
    view = ChartView(layered())
    view.show(bars(4, 6), "Six in the second stratum.")
    before = view.png()
    view.show(bars(9, 1), "Nine in the first stratum.")
    data, metadata = view._repr_mimebundle_()
    png = base64.b64decode(data["image/png"])
    assert png == view.png() != before
    width, height = struct.unpack(">II", png[16:24])
    assert metadata["image/png"] == {
        "width": round(width / 2),
        "height": round(height / 2),
        "alt": "Nine in the first stratum.",
    }
    assert set(data) == {WIDGET, "image/png", "text/plain"}
    assert data["text/plain"] == "ChartView: Nine in the first stratum."


def test_image_shows_the_present_title():
    view = ChartView(layered())
    before = view.png()
    view.show({}, "No labels yet.", title="Another title")
    assert view.png() != before


def test_squeezed_image_has_the_same_pixels():
    import vl_convert

    spec = layered().to_dict(validate=False)
    raw = vl_convert.vegalite_to_png(spec, scale=2)
    small = pictures.squeeze(raw)
    assert len(small) < len(raw) / 2
    assert pixels(small) == pixels(raw)


def pixels(png):
    import zlib

    found, body = b"", png[8:]
    while body:
        length, kind = struct.unpack(">I4s", body[:8])
        content = body[8 : 8 + length]
        assert struct.unpack(">I", body[8 + length : 12 + length]) == (zlib.crc32(kind + content),)
        found += content if kind == b"IDAT" else b""
        body = body[12 + length :]
    return zlib.decompress(found)


def test_panel_carries_the_image_of_its_chart():
    import ipywidgets

    view = ChartView(layered())
    shown = panel([ipywidgets.IntSlider(description="labels")], view)
    data, metadata = shown._repr_mimebundle_()
    assert data[WIDGET]["model_id"] == shown.model_id
    assert set(data) == {WIDGET, "image/png", "text/plain"}
    assert data["text/plain"] == "ChartView: No labels yet."
    assert metadata["image/png"]["alt"] == "No labels yet."


def test_a_setting_that_cannot_be_hides_the_picture_and_is_called_as_its_control():
    import ipywidgets

    view, slider = ChartView(layered()), ipywidgets.IntSlider(1, 0, 9, description="Labels <M>")

    def answer(budget):
        if budget > 5:
            raise checks.WrongValue("budget", "must be at most 5, the budget of the year", budget)
        if budget == 4:
            raise ValueError("budget 4 is unlucky")
        return {}, ("Few", f"{budget} labels.")

    shown = chart_view.drive({"budget": slider}, answer, view)
    slider.value = 7
    assert shown.children[1].value == (
        "<strong role='alert'>Labels &lt;M&gt; must be at most 5, the budget of the "
        "year; got 7</strong>"
    )
    assert view.picture["blank"] and view.alternative == ""
    slider.value = 4
    assert shown.children[1].value == "<strong role='alert'>budget 4 is unlucky</strong>"
    slider.value = 3
    assert (
        shown.children[1].value == ""
        and not view.picture["blank"]
        and view.alternative == "3 labels."
    )


def test_static_image_is_no_widget():
    data, _ = image(layered())._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}
    assert data["text/plain"] == "Chart: No labels yet."


def test_a_picked_mark_calls_back():
    view, seen = ChartView(layered()), []
    view.on_pick(seen.append)
    view._handle_custom_msg({"kind": "pick", "datum": {"pick": 3, "label": "Column 3"}}, [])
    view._handle_custom_msg(
        {"kind": "drag", "from": "page", "place": {"drag": 1, "x": 2, "y": None}}, []
    )
    assert seen == [{"pick": 3, "label": "Column 3"}]


def test_a_drag_is_answered_once_the_callback_is_done(monkeypatch):
    view, seen = ChartView(layered()), []
    monkeypatch.setattr(view, "send", lambda content: seen.append(content))
    view.on_drag(seen.append)
    view._handle_custom_msg(
        {"kind": "drag", "from": "page", "place": {"drag": 1, "x": 2, "y": None}}, []
    )
    assert seen == [{"drag": 1, "x": 2, "y": None}, {"kind": "dragged", "from": "page"}]


@pytest.mark.parametrize(
    "variables, live",
    [
        ({}, False),
        ({"JPY_SESSION_NAME": "lesson.ipynb"}, True),
        ({"SERVER_SOFTWARE": "voila/0.5.13"}, True),
        ({"SERVER_SOFTWARE": "nginx"}, False),
        ({"JPY_SESSION_NAME": "lesson.ipynb"} | kernel_manager_class().kernel_spec.env, False),
    ],
    ids=["report", "Lab", "Voila", "another server", "a report started in Lab"],
)
def test_a_live_page_is_one_that_a_server_started(monkeypatch, variables, live):
    for name in NOT_SERVED:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert pages.is_live() is live


def test_a_live_page_gets_widgets_only(monkeypatch):
    import ipywidgets

    monkeypatch.setattr(pages, "is_live", lambda: True)
    monkeypatch.setattr(pictures, "png", lambda spec: 1 / 0)
    monkeypatch.setattr(pictures, "page_png", lambda *details: 1 / 0)
    view, still = ChartView(layered()), image(layered())
    for shown in (view, panel([ipywidgets.IntSlider(description="labels")], view), still):
        data, _ = shown._repr_mimebundle_()
        assert set(data) == {WIDGET, "text/plain"}
    assert data["text/plain"] == "Chart: No labels yet."
    shown = ipywidgets.widget_serialization["from_json"](
        "IPY_MODEL_" + data[WIDGET]["model_id"], None
    )
    assert isinstance(shown, ChartView) and shown.alternative == "No labels yet."
    assert still._repr_mimebundle_()[0][WIDGET] == data[WIDGET]


def test_cleared_view_says_nothing_until_it_shows_again():
    view = ChartView(layered())
    view.clear()
    assert view.alternative == "" and view.picture["blank"]
    view.show(bars(2), "Two.", title="Two labels")
    assert view.alternative == "Two." and not view.picture["blank"]


def test_one_series_has_its_color():
    view = ChartView(
        alt.Chart(theme.rows("bars", [{"n": 1}])).mark_bar().encode(x="n:Q"), alternative="One."
    )
    assert 'fill="#0072B2"' in svg(view)
    labeled = ChartView(layered())
    labeled.show(bars(4), "Four.")
    assert 'fill="#009E73"' in svg(labeled)


def test_widget_state_holds_no_library():
    view = ChartView(layered())
    view.show(bars(*range(50)), "Fifty strata.")
    assert len(json.dumps(view.get_state(), default=str)) < 45_000


def test_library_is_answered_once_per_page(monkeypatch):
    view, sent = ChartView(layered()), []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append((content, buffers)))
    for page in ("a", "a", "b"):
        view._handle_custom_msg({"kind": "bundle", "page": page}, [])
    view._handle_custom_msg({"kind": "other"}, [])
    assert [content for content, _ in sent] == [{"kind": "bundle"}] * 2
    source = gzip.decompress(sent[0][1][0]).decode()
    assert source.rstrip().endswith("as default};") and "vega" in source


def test_failing_library_is_reported_to_the_page(monkeypatch):
    view, sent = ChartView(layered()), []
    monkeypatch.setattr(view, "send", lambda content, buffers=None: sent.append(content))
    monkeypatch.setattr(vega_bundle, "packed", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        view._send_bundle()
    assert sent == [{"kind": "trouble", "text": "ZeroDivisionError: division by zero"}]


def test_library_is_kept_where_it_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(vega_bundle, "__file__", str(tmp_path / "package" / "vega_bundle.py"))
    monkeypatch.setattr(vega_bundle, "build", lambda: "export default 1;")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "package").write_text("a file where the folder should be")
    assert vega_bundle.source() == "export default 1;"
    assert (vega_bundle.cache_folder() / vega_bundle.NAME).read_text() == "export default 1;"
    (tmp_path / "package").unlink()
    monkeypatch.setattr(vega_bundle, "build", lambda: 1 / 0)
    assert vega_bundle.source() == "export default 1;"


def test_library_is_built_anew_where_nothing_can_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(vega_bundle, "__file__", str(tmp_path / "file" / "vega_bundle.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(vega_bundle, "build", lambda: "export default 2;")
    assert vega_bundle.source() == "export default 2;"


def test_broken_write_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(vega_bundle, "build", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        vega_bundle.write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_report_falls_through_to_the_image(monkeypatch, kernel):
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import HTMLExporter

    source = (
        "import ipywidgets\nfrom test_chart_view import layered\n"
        "from workbench.widgets import ChartView, panel\n"
        "panel([ipywidgets.IntSlider(description='labels')], ChartView(layered()))"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    here = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, here.parents[:2])))
    NotebookClient(
        notebook, store_widget_state=False, resources={"metadata": {"path": here}}
    ).execute()
    assert set(notebook.cells[0].outputs[0].data) == {WIDGET, "image/png", "text/plain"}
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert "data:image/png;base64," in page and WIDGET not in page
