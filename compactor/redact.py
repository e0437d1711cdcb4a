"""What in a text looks like a secret, and what stands for it?

The shapes of known tokens come from detect-secrets, which keeps them; beside them stand rules of our own for what it
has no shape for or only a first line: whole private keys, bearer headers, passwords that are assigned, newer API keys.
Identifiers, hashes and UUIDs are left alone: a shape has a fixed beginning, or a name that says what it is.

>>> mask = masker()
>>> mask("export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 # for commit 66557412")
'export GITHUB_TOKEN=[masked: github token] # for commit 66557412'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Mask = Callable[[str], str]
_MARK = "[masked: "


class Redact(StrEnum):
    """What is taken out of texts before they are sent and kept."""

    SECRETS = "secrets"
    NOTHING = "nothing"


# Plugins of detect-secrets whose shapes begin with something that is nothing else; those that go by entropy or by
# the words around a value are left out, since they take hashes and identifiers for secrets.
_PLUGINS = (
    "artifactory",
    "aws",
    "azure_storage_key",
    "discord",
    "github_token",
    "gitlab_token",
    "mailchimp",
    "npm",
    "openai",
    "pypi_token",
    "sendgrid",
    "slack",
    "square_oauth",
    "stripe",
    "telegram_token",
    "twilio",
)
# No pattern looks back or ahead without a bound: a line of a hundred thousand dashes would take hours.
_ASSIGNED = (
    r"(?<![^\W_])(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key"
    r"|auth[_-]?token|access[_-]?token|client[_-]?secret|token)[\"']?\s*[:=]\s*"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A shape and the name of what it is; the secret is the group `secret` where there is one, else all of it."""

    kind: str
    shape: re.Pattern[str]

    def mask(self, text: str) -> str:
        """Put a placeholder into the place of every secret of this kind."""
        return self.shape.sub(self._placeholder, text)

    def _placeholder(self, found: re.Match[str]) -> str:
        group = "secret" if self.shape.groupindex else 0
        if found[group].startswith(_MARK.rstrip()):
            return found[0]
        before, after = found.string[found.start() : found.start(group)], found.string[found.end(group) : found.end()]
        return f"{before}{_MARK}{self.kind}]{after}"


_OWN = (
    Rule("json web token", re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?")),
    Rule("api key", re.compile(r"\b(?:sk|pk|rk)-(?=[\w-]{0,200}\d)(?:[a-z]{1,20}-){0,3}[\w-]{20,}")),
    Rule("google key", re.compile(r"\bAIza[\w-]{35}\b")),
    Rule("hugging face token", re.compile(r"\bhf_[A-Za-z0-9]{30,}\b")),
    Rule("github token", re.compile(r"\bgithub_pat_\w{50,}\b")),
    Rule("bearer token", re.compile(r"\bBearer\s+(?P<secret>[\w.~+/-]{16,}=*)", re.IGNORECASE)),
    Rule("password in a URL", re.compile(r"://[^\s:/@]+:(?P<secret>[^\s:/@]+)@")),
    Rule("password", re.compile(_ASSIGNED + r"(?P<quote>[\"'])(?P<secret>[^\s\"'$<{]{8,})(?P=quote)", re.IGNORECASE)),
    # Without quotes it may be code: a secret has letters and digits, and no attribute's dot after a name.
    Rule(
        "password",
        re.compile(
            _ASSIGNED + r"(?!\w+[.(])(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])(?P<secret>[\w/+.~!@#%^&*-]{12,})",
            re.IGNORECASE,
        ),
    ),
)
_PEM = Rule(
    "private key",
    re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)", re.DOTALL),
)


def hidden(before: str, after: str) -> int:
    """Count the places that masking `before` has changed to give `after`."""
    return max(after.count(_MARK) - before.count(_MARK), 0)


def masker(redact: Redact = Redact.SECRETS) -> Mask:
    """Give a function that puts "[masked: kind]" in the place of every secret in a text, or changes nothing."""
    if redact is Redact.NOTHING:
        return str

    def mask(text: str) -> str:
        for rule in _rules():
            text = rule.mask(text)
        return text

    return mask


@cache
def _rules() -> tuple[Rule, ...]:
    """Load all rules; a sixth of a second, spent only where a summary is written."""
    return (_PEM, *_kept_elsewhere(), *_OWN)


def _kept_elsewhere() -> Iterator[Rule]:
    for name in _PLUGINS:
        module = import_module(f"detect_secrets.plugins.{name}")
        for detector in vars(module).values():
            if isinstance(detector, type) and detector.__module__ == module.__name__:
                kind = str(detector.secret_type).lower()  # type: ignore[attr-defined]
                yield from (Rule(kind, re.compile(p.pattern, p.flags)) for p in detector.denylist)  # type: ignore[attr-defined]
