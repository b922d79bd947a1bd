"""A browser goes through a whole lesson: predictions are locked, controls moved, and each picture is looked at."""

import contextlib

import browser
import pytest

LOOK = "Compare with the result"
LOCKED = "text=Make your prediction first"
# dark or not, and how wide: colors move no text, so both at once find what either would
SCREENS = [
    (True, 900),
    *(pytest.param(*screen, marks=pytest.mark.full) for screen in ((True, 1200), (False, 900))),
]

# what is wrong with a chart: text outside its frame or over other text, a title over the picture or cut, words that are
# not those of the picture
FAULTS = """index => {
    const figure = document.querySelectorAll('.workbench-chart')[index], found = [];
    const svg = figure.querySelector('svg'), frame = svg.getBoundingClientRect();
    const heading = figure.querySelector('.heading'), picture = figure.querySelector('.picture');
    const texts = [];
    for (const text of svg.querySelectorAll('text')) {
        const box = text.getBoundingClientRect(), said = text.textContent.trim();
        if (!said || !box.width || getComputedStyle(text).opacity === '0') continue;
        for (const [other, name] of texts)
            if (Math.min(box.right, other.right) - Math.max(box.left, other.left) > 3
                && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 5)
                found.push(`${said} lies over ${name}`);
        texts.push([box, said]);
        if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2
            || box.bottom > frame.bottom + 2) found.push(`outside: ${said}`);
    }
    const above = heading.getBoundingClientRect();
    if (above.bottom > picture.getBoundingClientRect().top + 1) found.push('the title lies over the picture');
    if (heading.scrollWidth > heading.clientWidth + 1) found.push('the title is cut');
    const words = figure.querySelector('.words').textContent;
    for (const label of [picture.getAttribute('aria-label'), svg.getAttribute('aria-label')])
        if (label !== words) found.push(`says ${label}, shows ${words}`);
    return found;
}"""


@contextlib.contextmanager
def lesson(site, path, predictions, *, locked):
    """Open a lesson in JupyterLab and lock its predictions, in their order.

    Yields the page and the number of charts before: `locked` reveals must wait until then.
    """
    with site.show(path=path) as page:
        browser.run_all(page)
        page.locator(LOCKED).nth(locked - 1).wait_for(timeout=60_000)
        page.wait_for_function(
            f"{browser.KERNEL}.status === 'idle' && !document.querySelector('.jp-mod-executing')"
        )
        before = page.locator(".workbench-chart").count()
        assert page.locator(LOCKED).count() == locked
        for choice in predictions:
            page.get_by_label(choice, exact=True).first.click()
            page.locator("button:has-text('Lock my prediction'):not([disabled])").first.click()
            page.locator(f"text=You predicted {choice}").first.wait_for()
        page.wait_for_function(
            "text => !document.body.textContent.includes(text)",
            arg=LOCKED.partition("=")[2],
            timeout=60_000,
        )
        browser.settled(page)
        looks = page.get_by_role("button", name=LOOK)
        while count := looks.count():
            looks.last.click()
            looks.nth(count - 1).wait_for(
                state="detached"
            )  # else it is found again, and gone when it is clicked
            browser.settled(page)
        yield page, before


def faults(page, index):
    """Return what is wrong with a chart, once it is drawn."""
    page.wait_for_function(
        "index => document.querySelectorAll('.workbench-chart')[index]?.querySelector('svg')",
        arg=index,
    )
    return page.evaluate(FAULTS, index) and (browser.settled(page) or page.evaluate(FAULTS, index))


def all_faults(page):
    """Return what is wrong with any chart that is drawn."""
    drawn = page.evaluate("""() => [...document.querySelectorAll('.workbench-chart')].flatMap((figure, index) =>
        figure.querySelector('svg') && figure.getBoundingClientRect().width ? [index] : [])""")
    return [(index, fault) for index in drawn for fault in faults(page, index)]


def cell(page, index):
    """Return the cell of a chart, in view: Lab draws no other."""
    found = page.locator(".jp-CodeCell:has(.workbench-chart)").nth(index)
    found.scroll_into_view_if_needed()
    return found


def do(page, index, name, act):
    """Press a key on a slider, press a button of a group, or choose from a list."""
    kinds = ":is(.widget-inline-hbox, .widget-toggle-buttons)"
    row = cell(page, index).locator(f"{kinds}:has(.widget-label:text-is('{name}'))")
    if act in ("Home", "End", "ArrowLeft", "ArrowRight"):
        row.locator("[role=slider]").press(act)
    elif row.locator("select").count():
        row.locator("select").select_option(label=act)
    else:
        row.locator(f"button:text-is('{act}')").click()
    browser.settled(page)


def _awaits(page, index, title):
    """Wait for a title, if it comes: a picture on the way to it may be drawn before."""
    from playwright.sync_api import TimeoutError as NeverCame

    with contextlib.suppress(NeverCame):
        page.wait_for_function(
            """([index, title]) => document.querySelectorAll('.workbench-chart')[index]
            .querySelector('.heading').textContent.startsWith(title)""",
            arg=[index, title],
            timeout=10_000,
        )


def walk(page, moves):
    """Do each move, (chart, control, what is done, how the title then begins), and look at the picture after it."""
    wrong = []
    for index, name, act, title in moves:
        do(page, index, name, act)
        _awaits(page, index, title)
        shown = browser.chart(page, index)["title"]
        wrong += [] if shown.startswith(title) else [(index, name, act, shown)]
        wrong += [(index, name, act, fault) for fault in faults(page, index)]
    assert not wrong, wrong
