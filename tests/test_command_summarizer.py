"""Is a program asked as an endpoint would be, and never waited for longer than it deserves?"""

import asyncio
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from compactor.core.summary import Summary
from compactor.errors import SummarizerUnavailable, SummaryError, UsageError
from compactor.summarizers import Usage, summarise
from compactor.summarizers.command import LONGEST_ANSWER, CommandSummarizer
from tests.asked import COUNT, asked, notes, run

KEY = "sk-proj-Qm9va3MgYXJlIGdvb2Qu-1234"


def program(code, timeout=30.0):
    """A summarizer that runs this Python code."""
    return CommandSummarizer(shlex.join([sys.executable, "-c", code]), timeout, {"OPENAI_API_KEY": KEY})


def error_of(one):
    with pytest.raises(SummaryError) as caught:
        run(one.reply(asked()))
    return caught.value


def test_the_prompt_goes_in_and_the_answer_comes_out():
    reply = run(program("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])").reply(asked("é 中 1")))
    request = asked("é 中 1")
    assert reply.text == f"{request.system}\n\n{request.user}".encode()[::-1].decode(errors="replace")
    assert (reply.fault, reply.usage) == ("", Usage(calls=1))


def test_its_answer_is_judged_like_any_other():
    summary, usage = run(summarise(program(f"print({notes()!r})"), asked(), COUNT, str))
    assert isinstance(summary, Summary)
    assert usage == Usage(calls=1)
    with pytest.raises(SummaryError, match=r"command:python.*the reply is empty"):
        run(summarise(program("pass"), asked(), COUNT, str))


def test_words_are_split_as_a_shell_would_without_a_shell():
    code = "import sys; print(sys.argv[1:])"
    one = CommandSummarizer(f"{shlex.quote(sys.executable)} -c '{code}' 'a b' $HOME ; \"c\"", 30.0)
    assert run(one.reply(asked())).text.strip() == str(["a b", "$HOME", ";", "c"])


@pytest.mark.parametrize("command", ["", "  ", "llm 'never closed"])
def test_a_command_that_is_none_is_a_mistake_of_usage(command):
    with pytest.raises(UsageError):
        CommandSummarizer(command, 30.0)


def test_a_program_that_is_not_there(tmp_path):
    plain = tmp_path / "notes.txt"
    plain.write_text("not a program")
    for words, reason in (
        ("no-such-program-4711", "No such file"),
        (str(plain), "Permission denied"),
        (str(tmp_path), ""),
    ):
        error = error_of(CommandSummarizer(shlex.join([words, "-m", "x"]), 30.0))
        assert type(error) is SummarizerUnavailable
        assert f"the summarizer command {words!r} cannot be run" in str(error)
        assert reason in str(error)
        assert "--summarizer-command" in error.next_step


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; print('one', file=sys.stderr); sys.exit('two')", "failed with exit code 1: two;"),
        ("import sys; sys.exit(3)", "failed with exit code 3;"),
        ("print('## Goal'); raise ValueError('odd input')", "exit code 1: ValueError: odd input;"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9;"),
        (f"import sys; sys.exit('wrong key {KEY}')", "exit code 1: wrong key [key];"),
        ("import sys; sys.exit('x' * 10_000)", "exit code 1: " + "x" * 199 + "…;"),
    ],
)
def test_a_program_that_fails_is_quoted(code, words):
    error = error_of(program(code))
    assert type(error) is SummaryError
    assert words in str(error)
    assert str(error).startswith("command:python")
    assert error.next_step


def test_a_program_need_not_read():
    big = asked("word " * 400_000)
    reply = run(program("import os; os.close(0); print('done')").reply(big))
    assert reply.text == "done\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_may_talk_before_it_reads(stream):
    code = f"import sys; sys.{stream}.write('x' * 1_000_000); sys.stdin.read(); print('done')"
    assert run(program(code).reply(asked("word " * 400_000))).text.endswith("done\n")


def test_bytes_that_are_no_text_are_replaced():
    assert run(program(r"import sys; sys.stdout.buffer.write(b'a\xff\xfeb')").reply(asked())).text == "a��b"


def test_a_program_that_writes_for_ever_is_stopped():
    error = error_of(program("while True: print('x' * 10_000)"))
    assert f"wrote over {LONGEST_ANSWER:,} bytes" in str(error)


def gone(pid):
    """True once the process has ended; one that its parent has not looked at yet has ended, too."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


FAMILY = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
path = pathlib.Path({path!r})
path.with_suffix(".part").write_text(f"{{os.getpid()}} {{child.pid}}")
path.with_suffix(".part").rename(path)
time.sleep(600)
"""


async def ended(pids):
    while not all(gone(pid) for pid in pids):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


async def pids_in(path):
    while not path.exists():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    return [int(pid) for pid in path.read_text().split()]


def test_ctrl_c_ends_the_program_and_its_children(tmp_path):
    async def interrupted():
        path = tmp_path / "pids"
        call = asyncio.create_task(program(FAMILY.format(path=str(path))).reply(asked()))
        pids = await pids_in(path)
        assert not any(gone(pid) for pid in pids)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(ended(pids), 30)

    run(interrupted())


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path):
    async def waited():
        path = tmp_path / "pids"
        with pytest.raises(SummaryError, match=r"did not end within 2 s; raise --timeout"):
            await program(FAMILY.format(path=str(path)), timeout=2.0).reply(asked())
        await asyncio.wait_for(ended(await pids_in(path)), 30)

    run(waited())


def test_a_server_that_the_program_leaves_behind_does_not_keep_us(tmp_path):
    """It holds the pipes open, so the answer never comes to an end of its own."""
    path = tmp_path / "pids"
    code = FAMILY.format(path=str(path)).replace("time.sleep(600)\n", "print('done')\n")
    assert run(program(code).reply(asked())).text == "done\n"
    os.kill(run(pids_in(path))[1], signal.SIGKILL)  # it is none of ours to end, and was not


def test_the_name_says_which_program():
    assert CommandSummarizer("/opt/bin/llm -m x", 1.0).name == "command:llm"


def test_closing_is_fine():
    run(program("pass").close())
