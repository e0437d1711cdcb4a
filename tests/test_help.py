"""Does the help open with three examples, does each of them run, and is every option in it?"""

import gzip
import json
import re
import shlex
import subprocess

import pytest

from tests.running import PROGRAM, compactor, environment, handoffs, lined, talk

LONG, SHORT = lined(talk(41)), lined(talk(9))


@pytest.fixture(scope="module")
def help_text(tmp_path_factory):
    return compactor(tmp_path_factory.mktemp("help"), "compact", "--help", COLUMNS="200").out.decode()


def examples(text):
    found = [line.strip() for line in text.splitlines() if line.strip().startswith(("compactor compact ", "zcat"))]
    return [re.split(r" {3,}", line)[0] for line in found]


def test_help_opens_with_three_examples(help_text):
    assert len(examples(help_text)) == 3
    assert help_text.index("Examples:") < help_text.index(examples(help_text)[0])
    assert help_text.index(examples(help_text)[-1]) < help_text.index("─ Arguments ─")


@pytest.mark.parametrize("number", range(3))
def test_each_example_of_the_help_runs(tmp_path, help_text, number):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "compactor"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "one.jsonl").write_bytes(LONG)
    (tmp_path / "sessions" / "two.jsonl").write_bytes(SHORT)
    (tmp_path / "chat.jsonl").write_bytes(LONG)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(LONG))
    env = environment(COMPACTOR_CONTEXT_WINDOW="4000")
    env["PATH"] = f"{tmp_path}/bin:{env['PATH']}"
    line = f"set -o pipefail; {examples(help_text)[number]}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=env, capture_output=True, check=True)
    product = (tmp_path / "small.jsonl").read_bytes() if number == 0 else done.stdout
    if number == 1:
        assert b"2 conversations: " in product
    else:
        lines = (gzip.decompress(product) if number == 2 else product).splitlines()
        assert len(handoffs([json.loads(one) for one in lines])) == 1


def test_every_option_is_in_the_help_with_its_reason(help_text):
    options = set(re.findall(r"^│ (--[a-z-]+)", help_text, re.MULTILINE))
    assert {"--output", "--in-place", "--state", "--state-dir", "--dry-run", "--json", "--quiet"} <= options
    assert {"--jobs", "--force", "--rebuild", "--on-failure", "--cooldown", "--context-window"} <= options
    assert not re.search(r"--api-key", help_text)


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("compact", "-h")])
def test_help_is_a_product(tmp_path, words):
    ran = compactor(tmp_path, *words)
    assert (ran.code, ran.said) == (0, "")
    assert b"Usage:" in ran.out


def test_the_version(tmp_path):
    ran = compactor(tmp_path, "--version")
    assert (ran.code, ran.said) == (0, "")
    assert re.fullmatch(rb"compactor \d+\.\d+\.\d+\n", ran.out)
