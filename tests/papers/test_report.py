"""The report of the papers: one page that holds everything and needs nothing."""

import base64
import json
import re
from html.parser import HTMLParser
from io import BytesIO

import matplotlib.image
import numpy as np
import pytest

from stiction.papers import Experiment, Outcome, Quantity, experiment, experiments
from stiction.papers.experiment import claim
from stiction.papers.report import Entry, report_html, write_report
from stiction.papers.words import CAPTIONS, PAPERS, SAYS

VOID = {"meta", "img", "br", "link", "hr"}


class Page(HTMLParser):
    """Reads a page, and sees that every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sources, self.links, self.ids, self.text = [], [], [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.sources += [values[name] for name in ("src", "srcset", "data") if name in values]
        self.links += [values["href"]] if "href" in values else []
        self.ids += [values["id"]] if "id" in values else []
        assert not [name for name in values if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def png(figure):
    data = BytesIO()
    figure.savefig(data, format="png", dpi=40)
    return data.getvalue()


def entry(name):
    e = experiment(name)
    outcome = e.run()
    return Entry(e, 1.5, outcome, None, {name: png(figure) for name, figure in outcome.figures().items()})


@pytest.fixture(scope="module")
def entries():
    off = Quantity(
        'a < b & "c"', 2.0, 1.0, "m", "3.0", reason="<script>", tried=("one <reading>", "another"), conclude="not so"
    )
    same = Quantity("d", 2.0, 2.0, "m", "3.0", tried=off.tried, conclude=off.conclude)
    said = claim("e", False, record=False)
    bad = Outcome((off, same, said), {"natural_map": 0.0, "scaled_map": 0.0})
    return [
        entry("pr11-impulse"),
        entry("pr11-critical"),
        Entry(Experiment("x-off", "A paper", "Not on record", lambda: bad), 0.1, bad),
        Entry(Experiment("x-broken", "A paper", "Broken", lambda: bad), 0.1, None, "ValueError: it <broke>"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def page(entries, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, entries)
    return Page(path.read_text(encoding="utf-8"))


def test_every_quantity_note_and_caption_is_in_the_report(page, entries):
    for e in entries:
        assert e.experiment.title in page.text
        for q in e.quantities:
            ours = ("no", "yes")[int(q.ours)] if q.in_words else f"{q.ours:.6g}"
            assert all(part in page.text for part in (q.name, q.verdict, ours, q.reason))
        for note in e.outcome.notes if e.outcome else ():
            assert note in page.text
        for name in e.figures:
            assert CAPTIONS[name] in page.text
    assert "it <broke>" in page.text
    assert "Tried: 2 readingsone <reading>another" in page.text
    assert "To conclude: not so" in page.text
    assert page.text.count("one <reading>") == 1  # the row below refers to it
    assert "Tried, and to conclude: as above." in page.text
    assert "not on record" in page.text


def test_the_report_needs_nothing_else(page, entries):
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert not re.search(r"url\(|@import|https?://", report_html(entries))
    images = [base64.b64decode(source.partition(",")[2]) for source in page.sources]
    assert len(images) == sum(len(e.figures) for e in entries) >= 3
    assert all(matplotlib.image.imread(BytesIO(image)).ndim == 3 for image in images)


def test_the_summary_counts_verdicts_by_paper(page, entries):
    reproduced = sum(q.verdict == "reproduced" for e in entries for q in e.quantities)
    assert f"{reproduced}reproduced" in page.text
    assert "1experiments failed" in page.text
    assert "x-off" in page.text


def test_a_report_of_one_experiment_has_no_tables_of_all(entries):
    text = Page(report_html(entries[:1])).text
    assert "All experiments" not in text
    assert "pr11-impulse, reproduced" in text


def test_what_the_papers_say_is_written_for_every_experiment():
    assert list(SAYS) == list(experiments())
    assert {name.partition("-")[0] for name in SAYS} == set(PAPERS)
    assert all(any(name.startswith(e) for e in SAYS) for name in CAPTIONS)


def test_quantities_that_came_from_arrays_can_be_written_as_json():
    found = Quantity("x", np.float32(0.5), np.float64(0.5), "m", "0.5", record_within=np.float64(0.1))
    assert json.loads(json.dumps(found.as_dict()))["ok"] is True
