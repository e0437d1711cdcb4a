"""Secrets are masked, and what only looks like one is left alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.redact import Redact, hidden, masker
from tests.running import ask, compact, lined, talk
from tests.standin import Standin

mask = masker()
LETTERS = "abcdefghijklmnopqrstuvwxyz"

SECRETS = {
    "openai": "sk-" + "proj-" + "Ab12" * 8,
    "anthropic": "sk-" + "ant-api03-" + "Zz90_" * 8,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + "0a1B" * 9,
    "github fine-grained": "github_pat_" + "11ABCDEFG0" * 6,
    "gitlab": "glpat-" + "a1B2" * 5,
    "google": "AIza" + "Sy0-_" * 7,
    "hugging face": "hf_" + "aB3d" * 9,
    "slack": "xoxb-" + "123456789012-" + "abcdefABCDEF123",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "jwt": "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0" + ".abc-123_def",
}
LOOK_ALIKES = [
    "am_example_identifier",
    "commit 665574122cb6302fa5342c6f3570c674fcaf0a44",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "call_00_Me5GgGuSHcPSZSfxNGJuF9LD",
    "max_tokens=4096, token: str = None",
    "token = get_token(request_1)",
    "secret_key=self.settings.secret_key2",
    "password = os.environ['PASSWORD_2']",
    "password: required",
    "task-based-multi-step-planner-for-agents1234",
    "sk-learn-contrib-something-very-long-name",
    "https://example.com:8080/path@v2",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_token_is_masked_wherever_it_stands(kind):
    for text in ("{}", "export KEY={} # for CI", '{{"key": "{}"}}', "see {}, then go on"):
        masked = mask(text.format(SECRETS[kind]))
        assert SECRETS[kind] not in masked
        assert "[masked: " in masked


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_case_h68_what_only_looks_like_a_secret_stays(text):
    assert mask(text) == text


def test_a_private_key_goes_with_its_body():
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc=\n-----END RSA PRIVATE KEY-----"
    assert mask(f"cat key.pem\n{key}\nok") == "cat key.pem\n[masked: private key]\nok"
    assert "MIIEow" not in mask(key[:-20])


def test_what_names_the_secret_stays_readable():
    assert mask("postgres://bob:hunter22@db/app") == "postgres://bob:[masked: password in a URL]@db/app"
    assert mask("DB_PASSWORD='correct-horse'") == "DB_PASSWORD='[masked: password]'"
    assert mask("Authorization: Bearer abcdefghij123456") == "Authorization: Bearer [masked: bearer token]"
    assert mask("API_KEY=abc123def456ghi") == "API_KEY=[masked: password]"


@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text):
    once = mask(f"{text} {SECRETS['openai']} {text}")
    assert mask(once) == once


@given(st.text(LETTERS + " \n.,()", max_size=200))
def test_prose_stays(text):
    assert mask(text) == text


@pytest.mark.parametrize("text", ["a-" * 60_000, "token=" * 20_000, "x_" * 60_000, "-" * 120_000, "aB3-_" * 24_000])
def test_no_line_takes_for_ever(text):
    assert mask(f"{text} {SECRETS['aws']}").startswith(text[:1_000])


def test_what_was_masked_is_counted():
    for text, count in (("", 0), ("no secret", 0), (SECRETS["aws"], 1), (f"{SECRETS['aws']} and {SECRETS['jwt']}", 2)):
        assert hidden(text, mask(text)) == count
    assert hidden(mask(SECRETS["aws"]), mask(mask(SECRETS["aws"]))) == 0


def test_nothing_is_masked_where_nothing_is_to_be():
    assert masker(Redact.NOTHING)(SECRETS["aws"]) == SECRETS["aws"]


@pytest.mark.parametrize(("options", "masked"), [((), True), (("--no-redact",), False)])
def test_the_command_line_masks_unless_it_is_told_not_to_and_says_how_often(tmp_path, options, masked):
    messages = talk(41)
    secret = SECRETS["openai"]
    messages[5]["content"] += f" The key is {secret} for now."
    messages[7]["content"] = f"export KEY={secret}"
    (tmp_path / "log.jsonl").write_bytes(lined(messages))
    with Standin() as endpoint:
        ran = compact(tmp_path, "log.jsonl", "-o", "out.jsonl", "--json", *ask(endpoint), *options)
    (sent,) = endpoint.asks
    assert (secret in json.dumps(sent.body)) is not masked
    report, totals = ran.lines
    assert (report["masked"] >= 2) is (totals["masked"] == report["masked"] >= 2) is masked
    summary = (tmp_path / "log.jsonl.state").read_text()
    assert not masked or secret not in summary
    ran = compact(tmp_path, "log.jsonl", "--rebuild", *options)  # offline, the summary quotes the user
    assert not masked or secret not in ran.out.decode()
    assert ("secret masked" in ran.said or "secrets masked" in ran.said) is masked
