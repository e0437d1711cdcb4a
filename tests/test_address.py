"""Is a base URL told from what is none, and shown without its secrets?"""

import pytest

from compactor.errors import UsageError
from compactor.summarizers.address import shown


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("http://localhost:8080/v1", "http://localhost:8080/v1"),
        ("HTTPS://API.example.org/v1/", "https://api.example.org/v1/"),
        ("http://me:secret@127.0.0.1:9/v1", "http://127.0.0.1:9/v1"),
        ("http://[::1]:9/v1", "http://[::1]:9/v1"),
    ],
)
def test_it_is_shown_without_user_and_password(url, seen):
    assert shown(url) == seen


@pytest.mark.parametrize(
    "url",
    ["localhost:8080/v1", "ftp://host/v1", "http://", "http://host:port/v1", "http://a b/v1", "http://a..b/v1", "/v1"],
)
def test_what_is_none_is_a_mistake_of_usage(url):
    with pytest.raises(UsageError, match="http://localhost:8080/v1"):
        shown(url)


@pytest.mark.parametrize("more", ["?api-version=1&key=query4711", "#query4711"])
def test_what_would_come_before_the_path_of_a_request_is_refused_and_not_shown(more):
    with pytest.raises(UsageError, match="http://host/v1; end it there") as caught:
        shown(f"http://host/v1{more}")
    assert "query4711" not in str(caught.value)
