"""What facts does a text state: errors, outcomes of tests, commits, identifiers, numbers with their subject?

Every fact is a substring of the text on one line. Patterns are anchored or bounded, so that time grows with
the length of the text and no more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from compactor.core.sentences import LINE_CHARS, clip, flat

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of one result, what is examined: tools put their verdict at the end and their complaint at either end.
HEAD_CHARS = 20_000
TAIL_CHARS = 60_000
ERROR_CHARS = 240
ARGUMENT_CHARS = 1_000  # of the arguments of a call, what names things; beyond that they hold whole files


def ends(text: str) -> str:
    """Leave the middle out of an overlong `text`."""
    return text if len(text) <= HEAD_CHARS + TAIL_CHARS else text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:]


_ERROR = re.compile(
    r"^[ \t>]{0,16}(?:[\w.]{0,80}(?:Error|Exception|Interrupt)\b: .*|(?:error|fatal|panic|fehler)(?:\[\w+\])?: .*|"
    r"\*\* \([\w.]+\) .*|(?:assertion|build|validation|check|compilation)\b.{0,80}\bfail(?:ed|ure)\b.*|"
    r"E   +\S.*|FAILED .*|--- FAIL: .*|\S{1,200}:\d+(?::\d+)?: .*|.{0,200}: command not found.*|"
    r".{0,200}: No such file or directory.*|.{0,200}: Permission denied.*|npm ERR! .*|[✗✘] .*|<tool_use_error>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_PLACE = re.compile(r'^[ \t]{0,16}File "[^"\n]{1,300}", line \d+|^[ \t]{0,16}(?:at|-->) .{0,200}:\d+', re.MULTILINE)
_FROM_A_LISTING = re.compile(
    r"^\S+:\d+(?::\d+)?: (?!.*\b(?:error|warning|fail|undefined|invalid|expected|cannot|unused)\b)", re.IGNORECASE
)


def error_lines(text: str, at_most: int) -> tuple[str, ...]:
    """Find the last distinct error lines of `text`, oldest first."""
    text = ends(text)
    found: dict[str, None] = {}
    for match in _ERROR.finditer(text):
        line = flat(match[0][:LINE_CHARS])
        if not _FROM_A_LISTING.match(line):
            found.pop(line, None)
            found[line] = None
    return tuple(clip(line, ERROR_CHARS) for line in list(found)[-at_most:])


def error_place(text: str) -> str:
    """Find the last place that a traceback in `text` names ('File "a.py", line 3'), or ""."""
    places = _PLACE.findall(ends(text))
    return flat(places[-1]) if places else ""


_VERDICT = re.compile(
    r"^(?:ok\s+\S+\s+[\d.]+m?s|FAIL\s+\S+|.{0,200}(?:"
    r"\b\d+ (?:tests? )?(?:passed|failed|passing|failing|failures?|errors?|skipped|examples?|issues?|problems?)\b|"
    r"\b(?:tests?|suites?)(?:\s+run)?: +\d|\bRan \d+ tests?\b|test result: |BUILD (?:SUCCESS|FAIL)|\bcoverage: \d|"
    r"\bdone in [\d.]+|\bcompiled (?:successfully|with)|\bFinished (?:in |`|dev|release))).{0,200}$",
    re.IGNORECASE | re.MULTILINE,
)


def verdict(text: str) -> str:
    """Find the last line of `text` in which a test run, build or linter sums itself up, or ""."""
    found = [m[0] for m in _VERDICT.finditer(text[-TAIL_CHARS:])]
    return clip(flat(found[-1]).strip("= "), ERROR_CHARS) if found else ""


_FAILS = re.compile(
    r"^FAIL\b|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b|\btest result: FAILED|\bBUILD FAIL",
    re.IGNORECASE,
)


def fails(summed_up: str) -> bool:
    """Tell whether a verdict says that something failed."""
    return bool(_FAILS.search(summed_up))


_COMMIT = re.compile(r"^\[([\w./() -]{1,120}?) ([0-9a-f]{7,40})\] (.{1,200})$", re.MULTILINE)


def commits(text: str) -> tuple[tuple[str, str], ...]:
    """Give hash and subject of each commit that `git commit` reports in `text`."""
    return tuple((m[2], flat(m[3])) for m in _COMMIT.finditer(ends(text)))


_IDENTIFIER = re.compile(
    r"https?://[^\s<>\"'`)\]}]{4,200}|"
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|"
    r"\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b|"
    r"(?:\b(?:PR|issue|ticket|bug|MR) )?(?<![\w&/])#\d{1,7}\b|"
    r"\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|"
    r"(?<![\w:.-])(?=[A-Z0-9]{0,15}\d)(?=[A-Z0-9]{0,15}[A-Z])[A-Z0-9]{5,16}\b(?![:-]\d)|"
    r"\bv?\d+\.\d+\.\d+(?:[-+.]?[a-zA-Z0-9]+)*\b|"
    r"\b(?:port|localhost|127\.0\.0\.1|0\.0\.0\.0)[ :]+\d{2,5}\b|"
    r"\b[a-z]+(?:_[a-z0-9]+)*_\d{3,}\b"
)
_KEYED = re.compile(r'"(\w{0,40}(?:_?[iI]d|number|code|key|sha|hash|url|version))"\s*:\s*"([^"\\\s]{3,100})"')


def identifiers(text: str) -> Iterator[str]:
    """Yield hashes, issue numbers, ids, versions, ports and addresses of `text`, in order, repeats included."""
    for match in _IDENTIFIER.finditer(ends(text)):
        yield flat(match[0]).rstrip(".,;:\\")


def keyed_identifiers(text: str) -> Iterator[str]:
    """Yield the values of JSON keys that name an identifier ("order_id", "version"), in order, repeats included."""
    for match in _KEYED.finditer(ends(text)):
        yield match[2]


_FIGURE = r"[~≈<>]?[$€£¥]?\d(?:[\d,.]{0,15}\d)?"
_NO_SUBJECT = (  # words that follow or precede a figure without saying what it counts
    r"(?!(?:a|after|again|also|an|and|are|as|at|because|before|but|by|can|each|every|for|from|has|have|if|in|into|is|it|"
    r"just|next|no|not|now|of|on|only|or|out|over|since|so|than|that|the|then|there|this|to|until|up|was|we|were|when|"
    r"which|while|will|with|you|und|oder|ist|der|die|das|mit|von|zu|y|o|de|la|el|en|con|para|por|que|es)\b)"
)
_NUMBERED = (
    r"(?:port|line|issue|ticket|step|flight|card|order|run|build|version|message|migration|room|gate|table|chapter|page|"
    r"ending in|[A-Z]\w{1,19})"
)
_NO_PLACE = r"(?<!\.(?=[A-Za-z]{1,4}:\d))"  # a line of a file, as in app.go:31
_NUMBER = re.compile(
    rf"{_NO_PLACE}\b[A-Za-z_][\w-]{{0,30}} ?(?:=|:|≈) ?{_FIGURE}"
    rf"(?:\s?%| ?{_NO_SUBJECT}[A-Za-zµ]{{1,12}}\b(?![:=]))?(?![\w:/])|"
    rf"(?<![\w.,/#:=-]){_FIGURE}(?:\s?%|(?: |(?=[A-Za-zµ])){_NO_SUBJECT}[A-Za-zµ-]{{1,20}}(?:/[a-z]{{1,6}}\b)?"
    rf"(?![\w:.]\w)(?: {_NO_SUBJECT}[a-z]{{3,20}}\b)?|\s?[\u4e00-\u9fff\u3040-\u30ff]{{1,4}})|"
    rf"[$€£¥]\d(?:[\d,.]{{0,15}}\d)?|"
    rf"\b(?i:{_NO_SUBJECT}){_NUMBERED} (?<![\w.,/#:=-]){_FIGURE}(?![\w.:/-])"
)


def numbers(sentence: str) -> Iterator[str]:
    """Yield the figures of `sentence` with the word before or after that says what they count; no bare figures."""
    return (m[0].strip() for m in _NUMBER.finditer(sentence))
