"""Small tables for notebooks and terminals."""

from __future__ import annotations

import html
from typing import Any, Iterable, List, Mapping, Optional, Sequence


def number(x: Optional[float]) -> str:
    """Four digits, or a dash where nothing is known."""
    if x is None or x != x:
        return "-"
    return f"{x:,}" if isinstance(x, int) else f"{x:.4g}"


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    cells = [f"<th>{html.escape(str(h))}</th>" for h in head]
    lines = ["<table><thead><tr>" + "".join(cells) + "</tr></thead><tbody>"]
    for row in rows:
        lines.append("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>")
    lines.append("</tbody></table>")
    return "".join(lines)


def html_findings(findings: Sequence["Finding"]) -> str:
    if not findings:
        return ""
    rows = [(f.severity, f.id, f.evidence, f.remedy) for f in findings]
    return html_table(("finding", "id", "evidence", "what to do"), rows)


class Finding:
    """Something to know about a log, a model or a study before it is used."""

    def __init__(self, of: Mapping[str, Any]) -> None:
        self.severity: str = of["severity"]
        self.id: str = of["id"]
        self.evidence: str = of["evidence"]
        self.remedy: str = of["remedy"]
        self.count: int = of["count"]
        self.origin: str = of.get("origin", "")  # log, model or study
        self.accepted: bool = bool(of.get("accepted", False))  # an error that was accepted by its name

    def __repr__(self) -> str:
        return f"{self.severity} {self.id}: {self.evidence} -> {self.remedy}"


def findings(of: Iterable[Mapping[str, Any]]) -> List[Finding]:
    return [Finding(one) for one in of]


def frame(rows: Any, columns: Optional[Sequence[str]] = None) -> Any:
    """A pandas DataFrame."""
    try:
        import pandas
    except ImportError:
        from ._errors import missing

        raise missing("pandas", "a table of results") from None
    table = pandas.DataFrame(rows, columns=None if columns is None else list(columns))
    for name in table.columns:  # what is unknown is NaN, not None
        if table[name].dtype == object and all(x is None or isinstance(x, float) for x in table[name]):
            table[name] = table[name].astype(float)
    return table
