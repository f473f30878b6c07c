"""The page: one file that needs nothing, hides nothing, and in which a label is never more than text."""

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

import rldp
from rldp.reporter.page import api, facts
from rldp.reporter.page.api import page
from rldp.reporter.page.facts import gathered
from rldp.reporter.page.payload import packed
from rldp.reporter.page.words import at_most, in_few_digits

COUNTS = [[7919, 31, 17], [14, 38, 6007]]
HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u2028'\"`${7*7}&lt;<!--"]
VALUES = ["{{ 7*7 }}", "]]><script>alert(2)</script>", "\u202eabc"]
SECTIONS = ["promise", "verdict", "cost", "frontier", "belief", "protocol", "worst", "sample", "not", "check"]
DRAWS = 2000


class Reader(HTMLParser):
    """Elements with their attributes, and text outside scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.words, self._inside = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self._inside.append(tag)

    def handle_endtag(self, tag):
        assert self._inside.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self._inside):
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).replace("\u00a0", " ").split())

    def tags(self):
        return [tag for tag, _ in self.elements]


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


@pytest.fixture
def few(monkeypatch):
    """Compare with few promises, which is quick."""
    monkeypatch.setattr(facts, "STANDARD", ("chi2", "nominal"))


@pytest.fixture(scope="module")
def designed():
    return rldp.design(rldp.Sample(COUNTS, ["ill", "well"], [0, 1, 2]), 0.5)


@pytest.fixture(scope="module")
def found(designed):
    return gathered(designed.protocol, epsilons=[0.25, 0.5, 1.0], draws=DRAWS)


@pytest.fixture(scope="module")
def text(found):
    return page(found)


@pytest.fixture(scope="module")
def with_counts(found):
    return replace(found, with_counts=True)


def test_the_page_loads_nothing_and_runs_nothing_but_its_own(text):
    read = Reader(text)
    assert not re.search(r"https?:|@import|url\(", text)
    assert not [a for _, a in read.elements if {"src", "srcset", "style", "action"} & set(a)]
    assert {a["href"][0] for tag, a in read.elements if tag == "a"} == {"#"}
    assert "link" not in read.tags()
    policy = next(a["content"] for tag, a in read.elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not [name for _, a in read.elements for name in a if name.startswith("on")]
    assert len(text.encode()) < 3_000_000


def test_every_section_is_there_without_the_script(text):
    read = Reader(text)
    shown = [a["id"] for tag, a in read.elements if tag == "section" and "hidden" not in a]
    assert shown == [*SECTIONS, "versions"]
    hidden = [a["id"] for tag, a in read.elements if tag == "section" and "hidden" in a]
    assert hidden == ["explore"]
    linked = {a["href"][1:] for tag, a in read.elements if tag == "a"}
    assert linked == {*shown, *hidden}


def test_headings_come_in_order_and_every_drawing_is_told(text):
    read = Reader(text)
    levels = [int(tag[1]) for tag in read.tags() if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    drawings = [a for tag, a in read.elements if tag == "svg"]
    assert len(drawings) > 8
    assert all(a["role"] == "img" and a["aria-label"] for a in drawings)
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert len(ids) == len(set(ids))
    named = {a["aria-labelledby"] for _, a in read.elements if "aria-labelledby" in a}
    assert named <= set(ids)


def test_the_page_says_what_the_judge_says(found, text):
    words = Reader(text).text
    verdict = found.verdict
    for sentence in (*verdict.proved, *verdict.assumptions, *verdict.not_promised):
        assert in_few_digits(sentence) in words
    assert not re.search(r"\d\.\d{7}", words)
    assert words.index("Proved. The judge has checked") < words.rindex("How “value” is published")
    assert "No released value is more than 1.65 times as likely" in words
    assert "at most 62.3 % sure" in words
    assert words.count(found.sha256) == 2  # on page one, and in the line that releases
    assert words.count(f"at most {at_most(found.promised)}") == 3  # card, verdict, cost
    assert "But the claim is weak" not in words


def test_a_page_that_is_not_proved_says_so_in_its_first_line(few, designed, tmp_path):
    document = json.loads(designed.protocol.to_json())
    document["guarantee"]["epsilon"] = 0.1
    (tmp_path / "lie.json").write_text(json.dumps(document))
    found = gathered(rldp.load(tmp_path / "lie.json"), epsilons=[0.1], draws=DRAWS)
    text = page(found)
    words = Reader(text).text
    assert "<title>Not proved: " in text
    after = words.split("Skip to the appendix ")[1]
    assert after.startswith("Not proved. Privacy is not proved for output")
    assert "Nothing in this section is proved." in words
    assert "Proved. The judge" not in words
    assert "rldp release" not in words.split("How to check this")[-1]


def test_a_narrow_promise_is_told_beside_the_verdict(few):
    designed = rldp.design(rldp.Sample([[5, 4], [3, 6]]), 0.5, privacy=rldp.Nominal())
    words = Reader(page(gathered(designed.protocol, epsilons=[0.5], draws=DRAWS))).text
    assert (
        "But the claim is weak: given the sample and the prior, more than ε = 0.5 leaks with a "
        "probability of" in words
    )


def test_without_leave_nothing_tells_the_counts(found, text):
    """Counts, shares of the sample, the worst distribution, and files that hold them."""
    payload = packed(found)
    everything = Reader(text).text + json.dumps(unpacked(payload))
    assert payload in text
    for count in (7919, 6007, 7967, 6059):
        assert not re.search(rf"(?<!\d){count}(?!\d)", everything.replace("\u202f", ""))
    for share in (found.sample.distribution / found.sample.distribution.sum(axis=1, keepdims=True)).ravel():
        assert f"{share:.4f}" not in everything
    for level in unpacked(payload)["levels"]:
        file = json.loads(level["file"]["text"])
        assert file["guarantee"] is None
        assert level["file"]["name"].startswith("table-")
    assert "Counts" not in Reader(text).text
    assert "The counts of the sample are not on this page" in Reader(text).text


def test_with_leave_the_counts_are_there_and_every_file_verifies(with_counts, tmp_path):
    text = page(with_counts)
    assert "7 919" in Reader(text).text.replace("\u202f", " ")
    levels = unpacked(packed(with_counts))["levels"]
    assert [level["epsilon"] for level in levels] == ["0.25", "0.5", "1"]
    for level in levels:
        file = tmp_path / level["file"]["name"]
        file.write_text(level["file"]["text"], encoding="utf-8")
        verdict = rldp.verify(file)
        assert verdict.ok
        assert verdict.epsilon == float(level["epsilon"])
        assert hashlib.sha256(file.read_bytes()).hexdigest() == level["file"]["sha256"]


def test_the_file_on_the_page_is_the_file_it_was_made_from(few, designed, tmp_path):
    path = tmp_path / "protocol.json"
    path.write_text(json.dumps(json.loads(designed.protocol.to_json()), indent=1))
    found = rldp.report(path, tmp_path / "page.html", with_counts=True, epsilons=[0.5], draws=DRAWS)
    level = unpacked(packed(found))["levels"][0]
    assert level["file"]["text"] == path.read_text()
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.size == (tmp_path / "page.html").stat().st_size


def test_a_file_that_changes_while_it_is_read_is_refused(designed, monkeypatch, tmp_path):
    path = tmp_path / "protocol.json"
    designed.protocol.save(path)
    monkeypatch.setattr(api, "content_of", lambda given: b"another file")
    with pytest.raises(rldp.ProtocolFileError, match="must not change while it is read, but it did"):
        rldp.report(path, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_where_there_is_no_room_the_farthest_files_go_first(with_counts):
    whole = len(packed(with_counts))
    fewer = unpacked(packed(with_counts, room=whole - 1000))["levels"]
    assert [level["file"] is not None for level in fewer] == [True, True, False]
    bare = unpacked(packed(with_counts, room=whole // 3))
    assert len(bare["levels"]) == 1 or not any(level["file"] for level in bare["levels"])
    assert packed(with_counts, room=100) == ""


@pytest.mark.parametrize("counted", [True, False])
def test_a_label_is_never_more_than_text(few, counted):
    sample = rldp.Sample([[52, 31, 17], [14, 38, 48]], HOSTILE, VALUES)
    protocol = rldp.design(sample, 0.5, distortion="hamming").protocol
    text = page(gathered(protocol, epsilons=[0.5], draws=DRAWS, with_counts=counted))
    read = Reader(text)
    assert read.tags().count("script") == 2
    assert "img" not in read.tags()
    assert not [name for _, a in read.elements for name in a if name.startswith("on")]
    assert "</script><img src=x onerror=alert(1)>" in read.text
    assert "{{ 7*7 }}" in read.text
    assert "49" not in [word for word in read.words if word.strip() == "49"]
    assert not {"\u2028", "\u202e"} & set(text)


def test_the_same_protocol_gives_the_same_page(found, text):
    assert page(found) == text


def test_what_is_no_protocol_is_refused_before_the_work(tmp_path):
    with pytest.raises(rldp.InvalidArgumentType, match=r"an rldp\.Design or a path, got int"):
        rldp.report(3, tmp_path / "page.html")
    with pytest.raises(rldp.ProtocolFileError, match=r"none\.json"):
        rldp.report(tmp_path / "none.json", tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []
