"""Is what a reply names in vain found out, and nothing else?"""

import pytest

from compactor.core.invented import things, without_inventions
from compactor.core.messages import Call, Message, Role
from tests.making import result, says, sections, user
from tests.test_story import asked

ASKED = asked(
    user("Look into src/mail/queue.py, please. Ask @hanna about it."),
    Message(Role.ASSISTANT, "", (Call("c1", "bash", '{"command": "cat src\\/mail\\/send.py && git show 3f2a9bc"}'),)),
    result("c1", "see https://example.org/rfc/12 and ops@example.org"),
    says("README.md is next."),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/a.py and ./b/c.ts:", ["src/a.py", "./b/c.ts"]),
        ("read README.md, then and/or nothing", ["README.md"]),
        ("commit 3f2a9bc by @hanna", ["3f2a9bc", "@hanna"]),
        ("https://a.example/x?y=1.", ["https://a.example/x?y=1"]),
        ("input/output and 24/7, version 2.0.1, 1234567", []),
    ],
)
def test_things_are_what_can_only_be_copied(text, found):
    assert list(things(text)) == found


def test_a_line_that_names_what_is_nowhere_is_left_out_and_told():
    reply = sections(
        files=("- src/mail/queue.py: read", "- src/mail/retry.py: created"),
        context=("- commit 3f2a9bc", "- commit deadbee1", "- ops@example.org, https://example.org/rfc/12"),
        done="- src/mail/send.py and README.md read",
    )
    kept, left_out = without_inventions(reply, ASKED)
    assert left_out == ("- src/mail/retry.py: created", "- commit deadbee1")
    assert kept["files"] == ("- src/mail/queue.py: read",)
    assert kept["done"] == reply["done"]
    assert len(kept["context"]) == 2


def test_a_reply_that_names_nothing_passes_as_it_is():
    reply = sections(goal="- mend the mailer")
    assert without_inventions(reply, ASKED) == (reply, ())
