"""Is this the base URL of an endpoint, and how do messages show it?"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from compactor.errors import UsageError

# What HTTP libraries take without raising errors of their own: labels of 1 to 63 characters, or an IPv6 address.
_HOST = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?|[\da-f:]+(%\w+)?", re.ASCII | re.IGNORECASE)
_URL = re.compile(r"[!-~]+")


def shown(url: str) -> str:
    """Show the URL as messages do: without user and password. Raises UsageError if it is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        host = ""
    if not _HOST.fullmatch(host) or parts.scheme not in ("http", "https") or not _URL.fullmatch(url):
        raise UsageError(
            "the base URL is no http(s) URL", "give one like http://localhost:8080/v1 by --base-url or OPENAI_BASE_URL"
        )
    base = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}{parts.path}"
    if parts.query or parts.fragment:  # the path of a request is put behind them
        raise UsageError(f"the base URL goes on after its path, with ? or #: {base}", "end it there (most end in /v1)")
    return base
