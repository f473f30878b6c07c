"""``rldp report`` in a browser: it works, asks for nothing, and can be read by everybody."""

import hashlib
import io
import json
import re

import pytest

import rldp
from rldp.adviser.demo import adult

pytestmark = pytest.mark.browser

HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u2028'\"`${7*7}&lt;<!--<b>"]
VALUES = ["{{ 7*7 }}", "]]><script>alert(2)</script>", "\u202eabc"]
HEADINGS = [
    "The promise",
    "The judge’s verdict",
    "What it costs",
    "Privacy against distortion",
    "How much may leak",
    "The protocol",
    "The worst case",
    "The sample",
    "What may not be concluded",
    "How to check this",
    "Versions and digests",
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Pages: of the demonstration's table, with and without counts, of hostile labels, of a lie."""
    place = tmp_path_factory.mktemp("pages")
    people = "".join(
        f"{secret},{value}\n" * int(count)
        for secret, row in zip(adult(500).secrets, adult(500).counts, strict=True)
        for value, count in zip(adult(500).values, row, strict=True)
    )
    (place / "people.csv").write_text("sex,education_num\n" + people)
    sample = rldp.Sample.from_data(place / "people.csv", secret="sex", value="education_num")
    designed = rldp.design(sample, 0.5)
    rldp.report(designed, place / "report.html", with_counts=True)
    rldp.report(designed, place / "bare.html", epsilons=[0.25, 0.5, 1.0])
    rldp.report(designed, place / "paper.html", epsilons=[0.5], author="Office of statistics", unit="years")
    hostile = rldp.Sample([[52, 31, 17], [14, 38, 48]], HOSTILE, VALUES)
    wicked = rldp.design(hostile, 0.5, distortion="hamming")
    rldp.report(wicked, place / "hostile.html", with_counts=True, epsilons=[0.5, 1.0])
    document = json.loads(designed.protocol.to_json())
    document["guarantee"]["epsilon"] = 0.1
    (place / "lie.json").write_text(json.dumps(document))
    rldp.report(place / "lie.json", place / "lie.html", epsilons=[0.1, 0.5])
    return place


PAGES = ["report.html", "bare.html", "hostile.html", "lie.html"]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1400, 400])
def test_a_page_asks_for_nothing_complains_of_nothing_and_fits(folder, visit, page, width):
    shown = visit(folder / page, width).ready()
    for key in ("ArrowRight", "End", "Home"):
        shown.page.press("#level", key)
    shown.page.click("#draw")
    shown.page.click("#draw-many")
    assert shown.complaints == []
    assert shown.outside == []
    assert len([url for url in shown.requests if url.startswith("file:")]) == 1
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_slider_moves_the_figures_and_the_report_stays(folder, visit):
    shown = visit(folder / "report.html").ready()
    page = shown.page
    before = {part: page.inner_html(part) for part in ("#level-figures", "#level-heat", "#protocol", "#cost")}
    bars = page.inner_html("#level-histogram-wide")
    assert shown.words("#level-name") == "ε = 0.5"
    assert "This is the protocol of the report" in shown.words("#level-note")
    page.focus("#level")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert shown.words("#level-name") == "ε = 1"
    assert "This is not the protocol of the report; the judge proves" in shown.words("#level-note")
    assert page.get_attribute("#level", "aria-valuetext").startswith("ε = 1, Distortion, at most 2.8")
    assert page.inner_html("#level-figures") != before["#level-figures"]
    assert page.inner_html("#level-heat") != before["#level-heat"]
    assert page.inner_html("#level-histogram-wide") != bars
    assert page.locator("#frontier .wide .shown").count() == 1
    assert page.inner_html("#protocol") == before["#protocol"]
    assert page.inner_html("#cost") == before["#cost"]
    page.click("#back")
    assert page.inner_html("#level-heat") == before["#level-heat"]
    assert page.locator("#frontier .wide .shown").count() == 0


def test_what_the_slider_shows_is_what_the_library_designs(folder, visit):
    shown = visit(folder / "report.html").ready()
    shown.page.press("#level", "End")
    sample = rldp.Sample.from_data(folder / "people.csv", secret="sex", value="education_num")
    found = rldp.frontier(sample, [4.0], privacy=["chi2"]).points[0]
    distortion = re.search(r"Distortion, at most ([\d.]+)", shown.words("#level-figures"))[1]
    assert float(distortion) == pytest.approx(found.promised, rel=2e-3)


@pytest.mark.parametrize("steps", [0, 4, -3])
def test_a_downloaded_file_verifies(folder, visit, tmp_path, steps):
    shown = visit(folder / "report.html").ready()
    for _ in range(abs(steps)):
        shown.page.press("#level", "ArrowRight" if steps > 0 else "ArrowLeft")
    epsilon = float(shown.words("#level-name").removeprefix("ε = "))
    with shown.page.expect_download() as waiting:
        shown.page.click("#download")
    file = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(file)
    verdict = rldp.verify(file)
    assert verdict.ok
    assert verdict.epsilon == epsilon
    assert file.name == f"protocol-epsilon-{epsilon:g}.json"
    assert (steps == 0) == (epsilon == 0.5)


def test_without_counts_a_download_is_the_table_alone(folder, visit, tmp_path):
    shown = visit(folder / "bare.html").ready()
    with shown.page.expect_download() as waiting:
        shown.page.click("#download")
    waiting.value.save_as(tmp_path / "table.json")
    table = rldp.load(tmp_path / "table.json")
    assert table.guarantee is None
    sample = rldp.Sample.from_data(folder / "people.csv", secret="sex", value="education_num")
    assert (table.matrix == rldp.design(sample, 0.5).protocol.matrix).all()


def test_an_output_is_drawn_as_python_draws_it(folder, visit):
    """The browser's random words are planted; the outputs must be those of the same 52 bits in Python."""
    words = [
        (0, 0),
        (0, 5),
        (2**32 - 1, 2**32 - 1),
        (0x12345678, 0x9ABCDEF0),
        (0xFFF80000, 1),
        (0xABC00000, 7),
    ]
    shown = visit(folder / "report.html").ready()
    shown.page.evaluate(
        """words => {
            crypto.getRandomValues = (array) => { [array[0], array[1]] = words.shift(); return array; };
        }""",
        words,
    )
    sample = rldp.Sample.from_data(folder / "people.csv", secret="sex", value="education_num")
    protocol = rldp.design(sample, 0.5).protocol
    for i, (high, low) in enumerate(words):
        s, u = i % 2, (5 * i) % 16
        shown.page.select_option("#try-secret", str(s))
        shown.page.select_option("#try-value", str(u))
        shown.page.click("#draw")
        integer = (high % 2**20) * 2**32 + low
        ends = protocol.numerators[s, u].cumsum()
        wanted = protocol.outputs[int((ends <= integer).sum())]
        assert shown.words("#drawn strong") == str(wanted)


def test_many_draws_have_the_chances_of_the_protocol(folder, visit):
    """χ² of 1000 draws; wrong with probability 1e-6 at most (the 1 − 1e-6 point of χ² with 15 degrees)."""
    shown = visit(folder / "report.html").ready()
    shown.page.select_option("#try-value", "8")
    shown.page.click("#draw-many")
    rows = shown.page.eval_on_selector_all(
        "#drawn tbody tr", "rows => rows.map(row => [...row.cells].map(cell => Number(cell.textContent)))"
    )
    assert sum(times for _, times, _ in rows) == 1000
    usual = [(times, expected) for _, times, expected in rows if expected >= 5]
    assert sum((times - expected) ** 2 / expected for times, expected in usual) < 56.5


def test_labels_do_nothing(folder, visit):
    shown = visit(folder / "hostile.html").ready()
    shown.page.press("#level", "End")
    shown.page.click("#draw-many")
    assert shown.complaints == []
    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("script").count() == 2
    assert "</script><img src=x onerror=alert(1)>" in shown.words("#level-heat")
    assert "</script><img src=x onerror=alert(1)>" in shown.words("#protocol")


def test_without_javascript_everything_is_there(folder, visit):
    shown = visit(folder / "report.html", java_script_enabled=False)
    seen = shown.words("body")
    assert all(heading in seen for heading in HEADINGS)
    assert "Try another ε" not in seen
    for drawing in ("#cost .bars", "#frontier .frontier", "#belief .histogram", "#protocol .heat"):
        assert shown.page.locator(drawing).first.is_visible()
    assert shown.complaints == []


def test_the_first_line_of_a_page_that_is_not_proved(folder, visit):
    shown = visit(folder / "lie.html")
    assert shown.words("header").startswith("Not proved. Privacy is not proved for output")
    assert shown.page.title().startswith("Not proved: ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["report.html", "lie.html"])
@pytest.mark.parametrize("width", [1400, 400])
def test_nothing_serious_stands_in_anybodys_way(folder, visit, page, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    shown = visit(folder / page, width, color_scheme=scheme).ready()
    shown.page.press("#level", "ArrowRight")
    shown.page.click("#draw-many")
    shown.page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    found = axe.Axe().run(shown.page).response["violations"]
    serious = [
        (fault["id"], [node["html"][:160] for node in fault["nodes"]][:3])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_everything_can_be_reached_by_keyboard(folder, visit):
    shown = visit(folder / "report.html").ready()
    reached = set()
    for _ in range(60):
        shown.page.keyboard.press("Tab")
        tag, name, outline = shown.page.evaluate(
            "(at => [at.tagName, at.id || at.tagName, getComputedStyle(at).outlineStyle])"
            "(document.activeElement)"
        )
        if tag == "BODY":
            break
        reached.add(name)
        assert outline != "none", name
    assert {"A", "SUMMARY", "level", "download", "try-secret", "try-value", "draw", "draw-many"} <= reached


def test_on_paper_every_section_is_there_and_no_number_is_hidden(folder, visit):
    pypdf = pytest.importorskip("pypdf")
    shown = visit(folder / "report.html", color_scheme="dark").ready()
    document = pypdf.PdfReader(io.BytesIO(shown.page.pdf(format="A4", print_background=True)))
    printed = " ".join(" ".join(page.extract_text() for page in document.pages).split())
    for heading in HEADINGS:
        assert heading in printed
    assert "Try another" not in printed
    for caption in (
        "Mechanisms at ε",
        "Promised distortion",
        "Share of the draws",
        "P(output | Female, value)",
    ):
        assert caption in printed
    assert "independent reporting" in printed


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_page_one_is_one_sheet_of_paper(folder, visit, tmp_path, language):
    pypdf = pytest.importorskip("pypdf")
    sample = rldp.Sample.from_data(folder / "people.csv", secret="sex", value="education_num", bins=4)
    found = rldp.design(sample, 0.5)
    page = tmp_path / "page.html"
    rldp.report(
        found, page, epsilons=[0.5], language=language, author="Registrar", unit="years", date="today"
    )
    document = pypdf.PdfReader(io.BytesIO(visit(page).ready().page.pdf(prefer_css_page_size=True)))
    first, second = (" ".join(document.pages[i].extract_text().split()) for i in (0, 1))
    digest = rldp.verify(found).ok and found.protocol.to_json().encode()
    assert hashlib.sha256(digest).hexdigest() in first.replace(" ", "")
    for said in ("1,65" if language != "en" else "1.65", "±", "years", "Registrar", "today", "ε"):
        assert said in first
    assert "Appendix" not in first
    assert second.startswith("Appendix: proof and details")


def test_picture_of_page_one_on_paper(folder, visit, pictures):
    shown = visit(folder / "paper.html", 794, bypass_csp=True).ready()
    shown.page.emulate_media(media="print")
    clip = {"x": 0, "y": 0, "width": 794, "height": 1123}
    shown.page.add_style_tag(
        content=".sheet { padding: 60px 53px !important; } .appendix, footer { display: none; }"
    )
    shown.page.screenshot(path=pictures / "report-a4.png", full_page=True, clip=clip)
    assert (pictures / "report-a4.png").stat().st_size < 200_000


@pytest.mark.parametrize(("width", "height"), [(1400, 3600), (400, 4200)])
def test_pictures_of_the_page(folder, visit, pictures, width, height):
    shown = visit(folder / "report.html", width).ready()
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    shown.page.screenshot(path=pictures / f"report-{width}.png", full_page=True, clip=clip)
    assert (pictures / f"report-{width}.png").stat().st_size > 20_000
