"""Is a reply doubted that tells nothing new, or changes the language, and no other?"""

import asyncio

import pytest

from compactor.core.faith import doubt, echoes, language
from compactor.core.revision import identified, numbered
from compactor.summarizers import Reply, summarise
from tests.making import COUNT, says, sections, user
from tests.standin import between
from tests.test_merge import full
from tests.test_prompt import asked as prompted
from tests.test_story import asked

GERMAN = "Der Parser ist nicht mit der neuen Bibliothek gebaut und das Ergebnis wurde auf die Platte geschrieben. "
SPANISH = "El analizador está hecho con la biblioteca nueva y los resultados de las pruebas se guardan en una carpeta. "
CHINESE = "解析器已经用新的库重写，结果写入磁盘，所有测试都通过了。"
JAPANESE = "パーサーは新しいライブラリで書き直され、結果はディスクに保存されました。"
ENGLISH = "The parser was built with the new library and the result is in the folder that you have named for it. "


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (GERMAN * 4, "German"), (SPANISH * 4, "Spanish"), (ENGLISH * 4, "English"),
        (CHINESE * 4, "Chinese"), (JAPANESE * 4, "Japanese"), (CHINESE * 4 + "`src/parser.py` " * 5, "Chinese"),
        ("git push origin main && pytest -q tests/test_parser.py " * 9, ""), ("ok", ""), ("", ""),
        (GERMAN * 3 + ENGLISH * 3, ""),
    ],
)  # fmt: skip
def test_a_language_is_told_only_where_it_is_sure(text, name):
    assert language(text) == name


def test_a_reply_in_another_language_is_doubted():
    request = asked(user(CHINESE * 4), says(CHINESE * 4))
    assert "written in English" in doubt(sections(goal=f"- {ENGLISH * 3}"), request)
    assert not doubt(sections(goal=f"- {CHINESE * 3}"), request)
    assert not doubt(sections(goal="- `src/parser.py`"), request)


def test_an_echo_is_doubted_if_there_was_something_to_tell():
    notes = sections(goal="- mend the parser", done="- tests pass")
    for echo in (notes, numbered(notes), sections(goal="- mend the parser")):
        assert "repeats the earlier notes" in doubt(echo, asked(user("Now the writer."), previous=notes))
    assert not doubt(notes, asked(previous=notes))
    assert not doubt(notes, asked(user("Now the writer.")))
    assert not doubt(sections(goal="- mend the parser and the writer"), asked(user("Now."), previous=notes))


def test_a_secret_in_the_task_is_masked_when_the_turns_are_asked_about_alone():
    script = Script(NOTES, BETTER)
    request = prompted(user("Now the writer."), previous=NOTES, head=(user("Use the key hunter2."),))
    asyncio.run(summarise(script, request, COUNT, lambda text: text.replace("hunter2", "[secret]")))
    assert ["hunter2" in r.user for r in script.requests] == [False, False]
    assert "Use the key [secret]." in script.requests[1].user


class Script:
    """A summarizer whose replies are given."""

    name = "script"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    async def reply(self, request):
        self.requests.append(request)
        said = self.replies.pop(0)
        return said if isinstance(said, Reply) else Reply(full(said))


NOTES = sections(goal="- mend the parser")
BETTER = sections(goal="- mend the parser, then the writer")


@pytest.mark.parametrize(("replies", "taken"), [((NOTES, BETTER), BETTER), ((NOTES, NOTES), NOTES)])
def test_a_doubtful_reply_is_asked_for_once_more_and_then_taken(replies, taken):
    script = Script(*replies)
    request = prompted(user("Now the writer."), previous=NOTES)
    summary, _ = asyncio.run(summarise(script, request, COUNT, str))
    assert summary == taken
    first, second = (r.user for r in script.requests)
    assert "mend the parser" in first
    assert "mend the parser" not in second
    assert between(second, "transcript") == between(first, "transcript") == "[1] USER: Now the writer."


@pytest.mark.parametrize(
    ("text", "fault", "notes_again"),
    [
        ("## Goal\n- mend the parser\n## Done\n(none)", "", False),
        ("## Goal\n- the writer\n## Done\n(none)", "", True),
        ("## Goal\n- mend the parser\n- mend the par", "it was cut off", False),
        ("## Goal\n- mend the parser\n- the writer\n- mend", "it was cut off", True),
        ("## Goal\n- mend the par", "it was cut off", True),
        ("I have nothing to add.", "", True),
    ],
)
def test_an_echo_is_known_in_a_reply_that_is_no_summary(text, fault, notes_again):
    script = Script(Reply(text, fault), BETTER)
    request = prompted(user("Now the writer."), previous=NOTES)
    summary, _ = asyncio.run(summarise(script, request, COUNT, str))
    assert summary == BETTER
    assert ("mend the parser" in script.requests[1].user) is notes_again


@pytest.mark.parametrize(
    ("reply", "is_echo"),
    [
        (sections(context='- grep gave "LEVEL    = 1"'), True),
        (sections(context='- Grep gave \\"LEVEL = 1\\"'), True),
        (sections(context='- grep gave "LEVEL = 2"'), False),
        (sections(goal="- mend the parser", obsolete="- The earlier notes are no longer relevant."), True),
        (sections(obsolete="- (#{mark}) the parser is gone"), False),
        (sections(obsolete="- (#{mark})"), True),  # without a reason
        (sections(done="- (#{mark}) mend the parser"), False),
        (sections(done="- (#{mark})"), False),
        (sections(), False),
    ],
)
def test_an_echo_changes_nothing_of_the_notes(reply, is_echo):
    notes = sections(goal="- mend the parser", context='- grep gave "LEVEL = 1"')
    mark = next(iter(identified(notes)))
    marked = {key: [line.replace("{mark}", mark) for line in lines] for key, lines in reply.sections.items()}
    request = asked(user("Now the writer."), previous=notes)
    assert echoes(sections(**marked), request) is is_echo


@pytest.mark.parametrize(("previous", "calls"), [(None, 2), (NOTES, 1)])
def test_an_update_need_not_have_the_headings_under_which_nothing_changed(previous, calls):
    brief = "\n".join(f"## {name}\n- the writer" for name in ("Goal", "Done", "In Progress", "Blocked", "Next Steps"))
    script = Script(Reply(brief), BETTER)
    asyncio.run(summarise(script, prompted(user("Now the writer."), previous=previous), COUNT, str))
    assert len(script.requests) == calls
