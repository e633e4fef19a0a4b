"""The Browser with our guide and style: in a real browser without a window, through the address that is printed."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from neo4j import Driver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from cli import browse
from cli.exits import Failure
from cli.loading import Wanted, load_over_bolt
from cli.run import Run
from cypher import graph
from cypher.browser import guide
from cypher.browser.jar import with_guide
from cypher.catalogue import queries
from cypher.connection import USER
from cypher.server.assembly import Assembly
from cypher.server.configuration import DEFAULT_VERSION
from cypher.server.managed import Managed
from tests.cypher.conftest import clear

_SECONDS = 30.0
_WIDE, _HIGH = 1500, 1300
# As many clicks on the arrow show each slide of the guide.
_SLIDES = 10


@pytest.fixture
def loaded(run: Run, admin: Driver) -> Iterator[Driver]:
    """A database with one run in it."""
    with admin.session() as session:
        clear(session)
        load_over_bolt(Wanted(run, graph.SLICES, "demo"), admin, lambda _what, _far: None)
        yield admin
        clear(session)


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Chrome]:
    """Chromium without a window."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        assert not os.environ.get("CI"), "CI would skip this test: chromium or chromedriver not found"
        pytest.skip("needs chromium and chromedriver")
    options = ChromeOptions()
    options.binary_location = program
    for each in (
        "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
        f"--window-size={_WIDE},{_HIGH}", f"--user-data-dir={tmp_path / 'profile'}",
    ):  # fmt: skip
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options, ChromeService(driver))
    try:
        yield chrome
    finally:
        chrome.quit()


def wait(window: Chrome, css: str) -> WebElement:
    """Returns the first element that is seen."""
    WebDriverWait(window, _SECONDS).until(lambda _: seen(window, css))
    return seen(window, css)[0]


def seen(window: Chrome, css: str) -> list[WebElement]:
    return [each for each in window.find_elements(By.CSS_SELECTOR, css) if each.is_displayed()]


def artefact(window: Chrome, name: str, tmp_path: Path) -> Path:
    """Keeps a picture of the window."""
    folder = Path(os.environ.get("CI_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"browser-{name}.png"
    assert window.save_screenshot(str(file))
    return file


def printed(server: Managed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Returns the address that `heliograph browse` prints."""
    monkeypatch.setattr(browse, "managed", lambda: server)
    browse.open_browser(only_print=True)
    output = capsys.readouterr().out
    assert server.password() not in output
    assert str(server.folder / "password") in output
    return output.split()[1]


def log_in(window: Chrome, server: Managed, address: str) -> None:
    """Opens the address and gives the password; all else is filled in."""
    window.get(address)
    user = wait(window, "input[data-testid='username']")
    assert user.get_attribute("value") == USER
    assert (
        wait(window, "input[data-testid='boltaddress']").get_attribute("value")
        == f"127.0.0.1:{server.settings.bolt}"
    )
    wait(window, "input[data-testid='password']").send_keys(server.password())
    wait(window, "button[data-testid='connect']").click()


def click(window: Chrome, query: WebElement) -> None:
    """Clicks on the triangle before a query of the guide, or a command."""
    window.execute_script("arguments[0].scrollIntoView({block: 'center'})", query)
    query.find_element(By.TAG_NAME, "i").click()


def frames(window: Chrome) -> list[str]:
    """Returns the texts of what the Browser shows, the newest first."""
    return [each.text for each in window.find_elements(By.CSS_SELECTOR, "[data-testid='frame']")]


def wait_for_frame(window: Chrome, text: str) -> None:
    """Returns when the command of a frame has this text."""
    WebDriverWait(window, _SECONDS).until(
        lambda _: any(text in each.partition("\n")[0] for each in frames(window))
    )


@pytest.mark.usefixtures("loaded")
def test_the_guide_plays_and_a_click_draws(
    server: Managed, window: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    log_in(window, server, printed(server, monkeypatch, capsys))
    choose = wait(window, "[data-exec]")
    artefact(window, "guide", tmp_path)
    for each in (guide.GUIDE, ":style"):
        wait_for_frame(window, each)
    assert guide.GUIDE in frames(window)[0].partition("\n")[0], "the guide is what one sees first"
    click(window, choose)
    WebDriverWait(window, _SECONDS).until(lambda _: any('"run": "demo"' in each for each in frames(window)))
    picture = wait(window, "pre.runnable")
    assert "where it uses reflection" in picture.text
    click(window, picture)
    wait(window, "svg g.node circle")
    window.execute_script("document.querySelector('[data-testid=frame]').scrollIntoView()")
    wait_for_colours(window, "svg g.node circle", {"Package", "Class", "Method", "ReflectiveSite"})
    artefact(window, "picture", tmp_path)
    assert "Main" in frames(window)[0]
    walk(window, "// From input to Class.forName", {"InputSource", "Pointer", "ReflectiveSite"})
    artefact(window, "walk", tmp_path)
    walk(window, "// The rules that were applied", {"Derivation", "Pointer", "ReflectiveSite"})
    artefact(window, "rules", tmp_path)
    # Nothing came from elsewhere: what the Browser asks for, it was refused by its own policy.
    loaded_from = window.execute_script(
        "return performance.getEntriesByType('resource').filter(e => e.responseStatus).map(e => e.name)"
    )
    assert loaded_from
    assert {each.split("/")[2] for each in loaded_from if each.startswith("http")} == {
        f"127.0.0.1:{server.settings.http}"
    }


def walk(window: Chrome, title: str, labels: set[str]) -> None:
    """Turns the guide to the walk, and draws the picture of that title, with nodes of these labels."""
    (play,) = (
        each
        for each in window.find_elements(By.CSS_SELECTOR, "[data-testid='frame']")
        if guide.GUIDE in each.text.partition("\n")[0]
    )
    for _ in range(_SLIDES):
        found = [each for each in seen(window, "pre.runnable") if each.text.startswith(title)]
        if found and "A walk" in play.text:
            click(window, found[0])
            break
        window.execute_script(
            "arguments[0].click()", play.find_element(By.CSS_SELECTOR, "[data-testid='nextSlide']")
        )
    WebDriverWait(window, _SECONDS).until(lambda _: title in frames(window)[0])
    drawn = "[data-testid='frame']:first-child svg g.node circle"
    wait(window, drawn)
    window.execute_script("document.querySelector('[data-testid=frame]').scrollIntoView()")
    wait_for_colours(window, drawn, labels)


def wait_for_colours(window: Chrome, circles: str, labels: set[str]) -> None:
    """Returns when nodes of all these labels are drawn: the picture grows node by node."""
    wanted = {colour(each) for each in labels}
    WebDriverWait(window, _SECONDS, ignored_exceptions=[StaleElementReferenceException]).until(
        lambda _: (
            wanted <= {each.get_attribute("fill") for each in window.find_elements(By.CSS_SELECTOR, circles)}
        )
    )


def colour(label: str) -> str:
    return guide.style()[f"node.{label}"]["color"]


def statements() -> list[str]:
    """Returns the queries of the guide."""
    return [unescape(each) for each in re.findall(r"<pre [^>]*>([^<]*)</pre>", guide.guide())]


def test_every_query_of_the_catalogue_is_in_the_guide() -> None:
    for each in queries():
        assert guide.clickable(each) in statements(), each.name
    assert "{{" not in guide.guide()


def test_the_first_click_sets_all_parameters() -> None:
    (names,) = re.findall(r"^param \[\{([^}]*)\}\] =>", guide.values())
    assert {each for text in statements() for each in re.findall(r"\$(\w+)", text)} <= set(names.split(", "))


def test_the_style_has_all_labels_and_colours_of_their_own() -> None:
    selectors = [each.split(".") for each in guide.style() if "." in each]
    labels = [label for kind, label in selectors if kind == "node"]
    declared = {*graph.LABELS, *(word for node in graph.NODES for word in node.more)}
    assert set(graph.LABELS) | {"ReflectiveSite", "InputSource", "Phantom"} == set(labels)
    assert set(labels) <= declared
    assert len({colour(each) for each in labels}) == len(labels)
    types = {label for kind, label in selectors if kind == "relationship"}
    assert types <= {each.type for each in graph.EDGES}


def test_the_style_is_a_command_of_its_own() -> None:
    style, play = guide.on_connecting("http://127.0.0.1:7474/browser").split("; ")
    assert json.loads(style.removeprefix("style ")) == guide.style()
    assert play == f"play http://127.0.0.1:7474/browser/{guide.GUIDE}"
    declared = {name for node in graph.NODES for name in node.properties} | {"name"}
    captions = " ".join(each.get("caption", "") for each in guide.style().values())
    assert set(re.findall(r"\{(\w+)\}", captions)) <= declared | {"kind"}


def test_the_server_understands_the_guide(loaded: Driver) -> None:
    with loaded.session() as session:
        text = guide.values().partition(" => {")[2].removesuffix("}")
        found = dict(session.run(text).single(strict=True))
        assert found["run"] == "demo"
        assert found["site"].startswith("demo.Main.main(")
        assert found["class"] == "demo.Main"
        for each in statements():
            warnings = session.run(f"EXPLAIN {each}", found).consume().gql_status_objects
            assert [w.status_description for w in warnings if w.severity == "WARNING"] == []


def test_the_fetched_jars_stay_as_they_were(jars: Path, tmp_path: Path) -> None:
    before = Assembly(jars / DEFAULT_VERSION, DEFAULT_VERSION).class_path()
    after = with_guide(before, tmp_path)
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [each.parent for each in changed] == [tmp_path]
    assert Assembly(jars / DEFAULT_VERSION, DEFAULT_VERSION).damaged(fully=True) == []
    with zipfile.ZipFile(changed[0]) as jar:
        assert jar.testzip() is None
        assert jar.read(f"browser/{guide.GUIDE}").decode() == guide.guide()
        assert jar.read("browser/index.html")


def test_browse_without_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(Failure, match="heliograph graph start"):
        browse.open_browser(only_print=True)


def test_an_empty_graph_is_told(
    server: Managed, admin: Driver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    admin.execute_query("MATCH (c:Current) DETACH DELETE c")
    assert printed(server, monkeypatch, capsys) == server.browser_url
    monkeypatch.setattr(browse, "managed", lambda: server)
    browse.open_browser(only_print=True)
    assert "heliograph graph load" in capsys.readouterr().err
