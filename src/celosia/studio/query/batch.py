"""A batch of questions for the owner of the data: errors by question and by shape; no toolkit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.core.errors import CelosiaError, InputError
from celosia.core.files import replacing
from celosia.core.progress import Progress, silent
from celosia.queries import QueryRequest, Vault, comparison_report
from celosia.queries.comparison import LEAST_REPEATS, Comparison
from celosia.studio.query import model

MOST_QUESTIONS = 20
MOST_EPSILONS = 5
MOST_RUNS = 5_000
"""Private answers of one batch: a machine is shared by its visitors."""
REPORT = "errors.html"
_HEADING = re.compile(r"^===[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(slots=True)
class BatchForm:
    """What the page asks for."""

    text: str = ""
    """The questions, each below a line `=== name`."""
    epsilons: str = "0.1, 1"
    repeats: int = LEAST_REPEATS

    def questions(self) -> list[tuple[str, str]]:
        r"""The questions with their names.

        Raises:
            InputError: CEL-W109 there are none, or too many.

        >>> BatchForm(text="=== a\nSELECT 1\n=== b\nSELECT 2").questions()
        [('a', 'SELECT 1'), ('b', 'SELECT 2')]
        >>> BatchForm(text="SELECT 1").questions()
        [('question 1', 'SELECT 1')]
        """
        first, *rest = _HEADING.split(self.text)
        listed = [("", first), *zip(rest[::2], rest[1::2], strict=True)]
        found = [(name, text.strip()) for name, text in listed if text.strip()]
        if not 1 <= len(found) <= MOST_QUESTIONS:
            raise InputError("CEL-W109.questions", most=MOST_QUESTIONS)
        return [(name or f"question {at}", text) for at, (name, text) in enumerate(found, 1)]

    def prices(self) -> list[float]:
        """The epsilons, each once.

        Raises:
            InputError: CEL-W109 they are no positive numbers, or too many.

        >>> BatchForm(epsilons="0.1, 1").prices()
        [0.1, 1.0]
        """
        try:
            found = sorted({float(each) for each in re.split(r"[,;\s]+", self.epsilons.strip())})
        except ValueError:
            raise InputError("CEL-W109.epsilons", most=MOST_EPSILONS) from None
        if not 1 <= len(found) <= MOST_EPSILONS or not all(0 < each < 1e6 for each in found):
            raise InputError("CEL-W109.epsilons", most=MOST_EPSILONS)
        return found

    def check(self) -> None:
        """Refuse what would keep the machine busy.

        Raises:
            InputError: CEL-W109.
        """
        runs = len(self.questions()) * len(self.prices()) * self.repeats
        if self.repeats < 1 or runs > MOST_RUNS:
            raise InputError("CEL-W109.runs", most=MOST_RUNS, runs=runs)

    @property
    def command(self) -> str:
        """The same on the command line, with the questions as files of a folder."""
        prices = " ".join(f"-e {each:g}" for each in self.prices())
        return (
            f"celosia policy simulate {model.POLICY} questions {prices} "
            f"--repeats {self.repeats} --report {REPORT}"
        )

    @property
    def python(self) -> str:
        """The same in Python."""
        return (
            "from pathlib import Path\n"
            "from celosia.queries import QueryRequest, Vault, comparison_report\n\n"
            f'with Vault.open("{model.POLICY}") as vault:\n'
            "    found = [\n"
            f"        vault.compare(QueryRequest(file.read_text(), epsilon=epsilon), "
            f"runs={self.repeats}, name=file.stem)\n"
            '        for file in sorted(Path("questions").iterdir())\n'
            f"        for epsilon in {self.prices()}\n"
            "    ]\n"
            f'Path("{REPORT}").write_text(comparison_report.document(found).html())'
        )


def first_text(schema: dict[str, Any]) -> str:
    """Questions to begin with: the examples that are answered."""
    answered = [each for each in model.examples(schema) if "(refused)" not in each[0]]
    return "\n\n".join(f"=== {title}\n{query}" for title, query in answered)


def simulate(
    folder: Path, vault: Vault, form: BatchForm, progress: Progress = silent
) -> dict[str, Any]:
    """The errors of each question at each epsilon, and a report in the folder; nothing is charged.

    A question that is refused does not end the batch: it is listed with the reason.

    Raises:
        InputError: CEL-W109; or the refusal, where all questions are refused.
    """
    form.check()
    found: list[Comparison] = []
    refused: list[dict[str, str]] = []
    last: CelosiaError | None = None
    for name, query in form.questions():
        for epsilon in form.prices():
            try:
                request = QueryRequest(query, epsilon=epsilon)
                compared = vault.compare(request, runs=form.repeats, name=name, progress=progress)
                found.append(compared)
            except CelosiaError as error:
                last = error
                refused.append(
                    {"name": name, "epsilon": f"{epsilon:g}", "why": f"{error.code} {error}"}
                )
    if not found:
        assert last is not None
        raise last
    with replacing(folder / REPORT) as draft:
        draft.write_text(comparison_report.document(found).html(), "utf-8")
    return {
        "heads": comparison_report.titles(comparison_report.QUESTION_COLUMNS),
        "rows": comparison_report.question_rows(found),
        "shape_heads": comparison_report.titles(comparison_report.SHAPE_COLUMNS),
        "shape_rows": comparison_report.shape_rows(found),
        "curves": _curves(found),
        "bars": _bars(found),
        "refused": refused,
        "few": form.repeats < LEAST_REPEATS,
    }


def _bars(found: list[Comparison]) -> dict[str, Any]:
    """The median relative error of each question, by epsilon."""
    names = list(dict.fromkeys(each.name for each in found))
    errors = {(each.name, float(each.plan.epsilon)): each.median_relative for each in found}
    epsilons = sorted({at for _, at in errors})
    return {
        "names": names,
        "series": [
            (f"epsilon {at:g}", [errors.get((name, at)) or 0.0 for name in names])
            for at in epsilons
        ],
    }


def _curves(found: list[Comparison]) -> list[tuple[str, list[tuple[float, float]]]]:
    """The same of each question along epsilon; only positive errors have a place there."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for each in found:
        if each.median_relative:
            at = (float(each.plan.epsilon), each.median_relative)
            curves.setdefault(each.name, []).append(at)
    return [(name, sorted(points)) for name, points in curves.items() if len(points) > 1]
