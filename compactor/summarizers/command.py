"""How is a summary had from a program that reads the prompt on stdin and writes its answer to stdout?"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from compactor.errors import SummarizerUnavailable, SummaryError, UsageError
from compactor.summarizers import Reply, Usage
from compactor.summarizers.failures import said
from compactor.summarizers.keys import masked
from compactor.summarizers.replies import sendable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from compactor.core.prompt import Request

# Bytes. The longest summary has 12,000 tokens, some 50 KB; a program that writes on for ever is stopped here.
LONGEST_ANSWER = 4 * 1024 * 1024
LAST_WORDS = 4 * 1024  # bytes of stderr that are kept: its last line says why the program failed
# Seconds after a program's end for what it wrote to arrive. Its pipes may stay open for longer: a server that
# it has started inherits them.
GRACE_SECONDS = 1.0


class CommandSummarizer:
    """Runs a command for each request; it is split like a shell's words, but no shell is involved.

    `timeout` is in seconds for each run. Raises UsageError for a command line that cannot be split.
    """

    def __init__(self, command: str, timeout: float, environ: Mapping[str, str] = os.environ) -> None:
        try:
            self._words = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"the summarizer command {command!r} cannot be read: {error}", "mind its quotes") from None
        if not self._words:
            raise UsageError("the summarizer command is empty", "give a program, like --summarizer-command 'llm'")
        self._timeout = timeout
        self._key = environ.get("OPENAI_API_KEY", "").strip()

    @property
    def name(self) -> str:
        """Name for reports and the sidecar: "command:" and the program."""
        return f"command:{PurePath(self._words[0]).name}"

    async def reply(self, request: Request) -> Reply:
        """Answer `request` with what the program writes.

        Raises SummarizerUnavailable if it cannot be started, SummaryError if it fails or takes too long.
        """
        transport, talk = await self._start()
        try:
            stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
            stdin.write(sendable(f"{request.system}\n\n{request.user}").encode())
            stdin.close()
            async with asyncio.timeout(self._timeout):
                await talk.finished.wait()
        except TimeoutError:
            raise SummaryError(
                f"{self.name} did not end within {self._timeout:g} s", "raise --timeout, or use a faster program"
            ) from None
        finally:
            await _end(transport, talk)
        if len(talk.answer) > LONGEST_ANSWER:
            raise SummaryError(f"{self.name} wrote over {LONGEST_ANSWER:,} bytes", "see what it does with its input")
        if status := transport.get_returncode():
            raise SummaryError(self._failed(status, talk.last_words), "run it by hand with a prompt on its stdin")
        return Reply(talk.answer.decode(errors="replace"), usage=Usage(calls=1))

    async def close(self) -> None:
        """Nothing stays open between runs."""

    async def _start(self) -> tuple[asyncio.SubprocessTransport, _Talk]:
        try:
            # A session of its own, so that what the program starts can be ended together with it.
            loop = asyncio.get_running_loop()
            return await loop.subprocess_exec(_Talk, *self._words, start_new_session=True)
        except OSError as error:
            raise SummarizerUnavailable(
                f"the summarizer command {self._words[0]!r} cannot be run: {error.strerror}",
                "check --summarizer-command, and that the program is on the PATH and executable",
            ) from None
        except ValueError as error:
            raise SummarizerUnavailable(f"the summarizer command cannot be run: {error}") from None

    def _failed(self, status: int, last_words: bytes) -> str:
        lines = masked(last_words.decode(errors="replace"), self._key).strip().splitlines()
        how = f"was ended by signal {-status}" if status < 0 else f"failed with exit code {status}"
        return f"{self.name} {how}{f': {said(lines[-1])}' if lines else ''}"


class _Talk(asyncio.SubprocessProtocol):
    """What a program writes, on both streams at once: one that fills one of them must not hang on the other.

    asyncio wants a subclass here. Its stream API would wait for pipes that a child of the program holds open.
    """

    def __init__(self) -> None:
        self.answer = bytearray()
        self.last_words = b""
        self.ended = asyncio.Event()
        self.finished = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keep the answer from stdout, and the end of stderr."""
        if fd != 1:
            self.last_words = (self.last_words + data)[-LAST_WORDS:]
        elif len(self.answer) <= LONGEST_ANSWER:
            self.answer += data
        if len(self.answer) > LONGEST_ANSWER:
            self.finished.set()

    def process_exited(self) -> None:
        """Wait for the rest of its words, but not for ever."""
        self.ended.set()
        asyncio.get_running_loop().call_later(GRACE_SECONDS, self.finished.set)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Know that it has ended and that both streams are read to their end."""
        self.finished.set()


async def _end(transport: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """End the program and what it started, at once; nothing happens to one that has ended."""
    if transport.get_returncode() is None:
        with suppress(ProcessLookupError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
    transport.close()
    await talk.ended.wait()
