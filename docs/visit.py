"""Open every page of the built site from disk in a browser: `python docs/visit.py [FOLDER]` photographs some into it.

A page that asks any host for anything, in which a script fails, or that is wider than the window, with all that is
folded open, fails; so does a search that finds nothing.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
sys.path.insert(0, str(ROOT / "tests"))

import browser  # noqa: E402

WIDTHS = {1280: 900, 390: 844}
PHOTOGRAPHED = (
    "index",
    "questions",
    "howto/audit",
    "methods/accuracy",
    "lessons/01-stratified-accuracy",
    "reference/stratified",
)
INSIDE = ("file:", "data:")
WIDE = """() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    return document.documentElement.scrollWidth > window.innerWidth + 1;
}"""


def visit(page, path, width, asked):
    """Open one page; return what is wrong with it."""
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    page.goto(path.as_uri())
    name = path.relative_to(SITE).as_posix()
    wrong = [f"{name}: asks for {url}" for url in asked] + [
        f"{name}: wider than {width} px"
    ] * page.evaluate(WIDE)
    asked.clear()
    return wrong


def main(folder=None):
    """Visit all pages at both widths; return the exit code."""
    if browser.missing():
        print(f"not visited: {browser.missing()}")
        return 0
    asked, wrong = [], []
    with browser.start() as started:
        page = started.new_page()
        page.on(
            "request",
            lambda request: asked.extend([request.url] * (not request.url.startswith(INSIDE))),
        )
        page.on("pageerror", lambda error: asked.append(f"(error) {error}"))
        pages = sorted(SITE.rglob("*.html"))
        for width in WIDTHS:
            for path in pages:
                wrong += visit(page, path, width, asked)
                name = path.relative_to(SITE).with_suffix("").as_posix()
                if folder and name in PHOTOGRAPHED:
                    page.screenshot(path=Path(folder, f"{name.replace('/', '-')}-{width}.png"))
        page.goto(f"{(SITE / 'search.html').as_uri()}?q=stratified")
        page.wait_for_selector("#search-results li a", timeout=20_000)
    print(
        *wrong,
        f"{len(pages)} pages visited at {len(WIDTHS)} widths, {len(wrong)} complaints",
        sep="\n",
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
