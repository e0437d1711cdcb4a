"""Are both layouts of OpenAI chat read in full, and written so that nothing changes but what was asked for?"""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactor.core.messages import Conversation, Handoff, Kept, Message, Result, Role
from compactor.files import lines
from compactor.formats import Fault, rows

SAMPLES = Path(__file__).parents[2] / "shared" / "transcripts" / "openai-chat"
HANDOFF = Handoff(Role.USER, "summary")
HANDOFF_LINE = b'{"role":"user","content":"summary"}'


def read(content, name="chat.jsonl"):
    return list(rows(BytesIO(content), name))


def only(content):
    [row] = read(content)
    return row


def rendered(row):
    count = len(row.conversation.messages) if row.conversation else 0
    return row.render([Kept(n) for n in range(count)])


# Generated files: every style of JSON, line ends, glue, blanks, a byte order mark, faults and other records.

texts = st.text(st.characters(codec=None), max_size=8)
contents = st.none() | texts | st.lists(texts | st.builds(lambda t: {"type": "text", "text": t}, texts), max_size=2)
calls = st.lists(
    st.builds(lambda i, n: {"id": i, "type": "function", "function": {"name": n, "arguments": "{}"}}, texts, texts),
    max_size=2,
)
messages = (
    st.builds(lambda r, c: {"role": r, "content": c}, st.sampled_from(["system", "user", "developer"]), contents)
    | st.builds(lambda c, k: {"content": c, "tool_calls": k, "role": "assistant", "n": 1e2}, contents, calls)
    | st.builds(
        lambda c, i: {"role": "tool", "tool_call_id": i, "content": c, "extra": {"raw": "\u2028"}}, contents, texts
    )
)
others = st.sampled_from([{"role": "exit"}, {"role": "session_meta", "tools": [{"name": "t"}]}])
malformed = st.sampled_from([{"role": "user", "content": 5}, {"role": "assistant", "tool_calls": "x"}])
styles = st.tuples(st.sampled_from([None, (",", ":"), (" ,\t", " : ")]), st.booleans())


def dumped(value, style):
    separators, ascii_only = style
    try:
        return json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=separators).encode()


@st.composite
def files(draw, objects, junk):
    """A file whose first record is an object, so that the layout can be told."""
    records = [dumped(draw(objects), draw(styles))]
    more = st.builds(dumped, objects, styles) | st.sampled_from(junk)
    records += draw(st.lists(more, max_size=8))
    ends = [draw(st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n"])) for _ in records]
    if draw(st.booleans()):
        ends[-1] = b""
    for n in range(len(ends) - 1):
        if draw(st.integers(0, 5)) == 0 and all(r[:1] + r[-1:] == b"{}" for r in records[n : n + 2]):
            ends[n] = draw(st.sampled_from([b"", b" "]))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + b"".join(r + e for r, e in zip(records, ends, strict=True))


JUNK = [b"", b"   ", b"5", b"[1]", b"rubbish", b"\xff\xfe", b'{"role": "user", "content": "cut', b"{}", b'{"a": NaN}']
message_files = files(messages | others | malformed, JUNK)
conversations = st.builds(
    lambda m, tools, k: {"id": 1.50, "messages": m, "tools": tools, "more": k},
    st.lists(messages | others.filter(lambda o: o), max_size=6) | st.lists(messages | malformed, max_size=3),
    st.none() | st.just([{"name": "t"}]) | st.just('[{"name": "t"}]'),
    texts,
)
conversation_files = files(st.just({"messages": []}) | conversations, JUNK)


@given(message_files)
def test_a_message_a_line_comes_back_byte_for_byte(content):
    for row in read(content):
        assert row.raw == content
        assert rendered(row) == content


@given(conversation_files)
def test_a_conversation_a_line_comes_back_byte_for_byte(content):
    found = read(content)
    assert b"".join(row.raw for row in found) == content
    for row in found:
        assert rendered(row) == row.raw
        assert not (row.faults and row.conversation)


def choice(data, count):
    """Some of the messages, one of them perhaps stubbed, and a handoff somewhere."""
    kept = [Kept(n) for n in range(count) if data.draw(st.booleans())]
    at = data.draw(st.integers(0, len(kept)))
    return [*kept[:at], HANDOFF, *kept[at:]]


def expected(conversation, pieces):
    """The messages that pieces stand for."""
    found = []
    for piece in pieces:
        if isinstance(piece, Handoff):
            found.append(Message(piece.role, piece.text))
            continue
        message = conversation.messages[piece.index]
        if piece.stubs:
            message = replace(message, results=(replace(message.results[0], text="stub", image_tokens=0),))
        found.append(message)
    return tuple(found)


def stubbed(conversation, pieces):
    return [
        replace(p, stubs={0: "stub"}) if isinstance(p, Kept) and conversation.messages[p.index].results else p
        for p in pieces
    ]


@given(message_files | conversation_files, st.data())
def test_what_is_written_is_read_as_what_was_meant(content, data):
    for row in read(content):
        if row.conversation is None:
            continue
        pieces = stubbed(row.conversation, choice(data, len(row.conversation.messages)))
        made = row.render(pieces)
        again = only(made).conversation
        assert again is not None
        assert again.messages == expected(row.conversation, pieces)
        assert again.preamble == row.conversation.preamble
        assert made.endswith(b"\n") == row.raw.endswith(b"\n")


@given(message_files, st.data())
def test_what_cannot_be_read_is_in_the_result_too(content, data):
    for row in read(content):
        if row.conversation is None:
            continue
        again = only(row.render(choice(data, len(row.conversation.messages))))
        assert [f.what for f in again.faults] == [f.what for f in row.faults]


# Faults


def line(**keys):
    return json.dumps(keys).encode() + b"\n"


USER, REPLY = line(role="user", content="go"), line(role="assistant", content="done")


def test_faults_of_a_message_a_line_say_where_and_what():
    content = USER + line(role="user", content=5) + b"\n" + REPLY + b"5\n" + line(role="exit") + b'{"role": "us'
    row = only(content)
    assert row.faults == (
        Fault("chat.jsonl:2: $.content", "5 is not a string, null or an array of parts"),
        Fault("chat.jsonl:5", "column 1: 5 is not an object"),
        Fault("chat.jsonl:7", "cut off after column 12: the JSON value does not end"),
    )
    assert str(row.faults[0]) == "chat.jsonl:2: $.content: 5 is not a string, null or an array of parts"
    assert row.conversation == Conversation(
        (Message(Role.USER, "go"), Message(Role.ASSISTANT, "done")), gaps=frozenset({0, 1}), name="chat.jsonl"
    )


def test_a_gap_before_the_first_message_is_before_zero():
    assert only(b"rubbish\n" + USER).conversation.gaps == {-1}


def test_faults_of_a_conversation_a_line_say_where_and_what():
    good = line(messages=[{"role": "user", "content": "go"}])
    content = b"".join(
        [
            good,
            b"\n",
            line(messages=[{"role": "user"}, {"role": "exit"}, {"role": "tool", "content": 5}]),
            line(messages=[{"role": "assistant", "tool_calls": [{"id": "c", "function": "f"}]}]),
            line(messages=[{"role": "user"}, 5]),
            line(messages=[{"from": "human", "value": "go"}]),
            line(messages={"role": "user"}),
            line(id=3, conversations=[]),
            b"{}\n",
            b"[]\n",
            good,
        ]
    )
    found = read(content, "rows.jsonl")
    assert [row.raw for row in found] == content.splitlines(keepends=True)
    assert [str(fault) for row in found for fault in row.faults] == [
        "rows.jsonl:3: $.messages[2].content: 5 is not a string, null or an array of parts",
        'rows.jsonl:4: $.messages[0].tool_calls[0].function: "f" is not an object',
        "rows.jsonl:5: $.messages[1]: 5 is not an object",
        "rows.jsonl:6: $.messages[0].role: missing",
        "rows.jsonl:7: $.messages: an object is not an array",
        "rows.jsonl:8: $.messages: missing; there is id, conversations",
        "rows.jsonl:9: $.messages: missing; there is nothing",
        "rows.jsonl:10: column 1: an array is not an object",
    ]
    assert [row.conversation.name for row in found if row.conversation] == ["rows.jsonl:1", "rows.jsonl:11"]


def test_only_malformed_messages_leave_as_they_came():
    row = only(line(role="user", content=5))
    assert row.conversation is None
    assert row.render([]) == row.raw


def test_tool_schemas_nested_beyond_the_writer_are_a_fault():
    deep = b'{"role":"session_meta","tools":[' + b"[" * 1000 + b"]" * 1000 + b"]}\n"
    row = only(USER + deep)
    assert row.faults == (Fault("chat.jsonl:2: $.tools", "nested more than 500 levels deep"),)


# Reading


def test_records_that_are_no_messages_are_carried_silently():
    meta = line(role="session_meta", tools=[{"name": "bash"}], model="m")
    row = only(meta + USER + line(type="note") + REPLY + line(role="exit", content="bye"))
    assert row.faults == ()
    assert row.conversation.preamble == '[{"name":"bash"}]'
    assert len(row.conversation.messages) == 2


@pytest.mark.parametrize(
    ("keys", "preamble"),
    [
        ({"tools": [{"name": "ü", "n": 1}]}, '[{"name":"ü","n":1}]'),
        ({"tools": '[{"name": "as text"}]'}, '[{"name": "as text"}]'),
        ({"functions": [{"name": "f"}]}, '[{"name":"f"}]'),
        ({"tools": None}, ""),
        ({}, ""),
    ],
)
def test_tool_schemas_count_as_preamble(keys, preamble):
    assert only(line(messages=[{"role": "user", "content": "go"}], **keys)).conversation.preamble == preamble


def test_conversations_are_read_one_at_a_time():
    taken = []

    def source():
        for n in range(300):
            taken.append(n)
            yield line(messages=[{"role": "user", "content": "go"}])

    next(rows(source(), "rows.jsonl"))
    assert len(taken) <= 100


def test_the_first_telling_object_decides_the_layout():
    head = b"rubbish\n" + line(type="header")
    assert only(head + USER + line(messages=[])).conversation.messages == (Message(Role.USER, "go"),)
    assert len(read(head + line(messages=[]) + USER)) == 4


def test_a_question_to_the_user_is_told_by_the_call_that_its_answer_belongs_to():
    ask = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "clarify", "arguments": "{}"}}]}
    reply = {"role": "tool", "tool_call_id": " c", "content": "blue"}
    wanted = (Result(" c", "blue", protected=True),)
    assert only(line(messages=[ask, reply])).conversation.messages[1].results == wanted
    assert only(line(**ask) + line(**reply)).conversation.messages[1].results == wanted


# Writing


def test_a_handoff_and_a_stub_among_lines():
    tool = b'{"tool_call_id":"c","content": "long \\u00e9","extra":{"n":1.50},"role":"tool"}\r\n'
    meta = line(role="session_meta")
    note = b'{"role": "note"}\r\n'
    made = only(meta + USER + USER + note + REPLY + tool + REPLY).render(
        [Kept(0), HANDOFF, Kept(3, {0: "stub"}), Kept(4)]
    )
    stub = b'{"tool_call_id":"c","content": "stub","extra":{"n":1.50},"role":"tool"}\r\n'
    assert made == meta + USER + HANDOFF_LINE + b"\n" + note + stub + REPLY


def test_a_handoff_takes_the_line_end_of_its_file():
    content = (USER + REPLY + USER).replace(b"\n", b"\r\n")
    assert only(content).render([HANDOFF, Kept(2)]) == HANDOFF_LINE + b"\r\n" + USER.replace(b"\n", b"\r\n")


def test_no_line_end_at_the_end_stays_so():
    content = USER + REPLY + USER.rstrip()
    assert only(content).render([Kept(0), HANDOFF, Kept(2)]) == USER + HANDOFF_LINE + b"\n" + USER.rstrip()
    assert only(content).render([Kept(0), Kept(1)]) == USER + REPLY.rstrip()


def test_glued_records_are_parted_when_something_comes_between():
    content = USER.rstrip() + REPLY.rstrip() + USER
    assert only(content).render([Kept(0), Kept(1), Kept(2)]) == content
    assert only(content).render([Kept(0), HANDOFF, Kept(2)]) == USER + HANDOFF_LINE + b"\n" + USER
    assert only(content).render([Kept(0), Kept(2)]) == USER + USER


def test_a_byte_order_mark_stands_at_the_beginning_only():
    content = b"\xef\xbb\xbf" + USER + REPLY
    assert only(content).render([Kept(0), HANDOFF, Kept(1)]) == b"\xef\xbb\xbf" + USER + HANDOFF_LINE + b"\n" + REPLY
    assert only(content).render([HANDOFF, Kept(1)]) == HANDOFF_LINE + b"\n" + REPLY


def test_only_the_messages_array_of_a_conversation_changes():
    tool = b'{"content" :"long","role":"tool", "tool_call_id":"c"}'
    user = b'{ "role":"user" , "content":"go" }'
    row = only(
        b'{"n": 1.50, "messages" : [ %s ,  %s ,  %s ,  %s ], "tools":[ ], "id": 12345678901234567890}\r\n'
        % (user, user, b'{"role":"exit"}', tool)
    )
    stub = b'{"content" :"stub","role":"tool", "tool_call_id":"c"}'
    assert row.render([Kept(0), HANDOFF, Kept(2, {0: "stub"})]) == (
        b'{"n": 1.50, "messages" : [ %s ,  %s ,  %s ,  %s ], "tools":[ ], "id": 12345678901234567890}\r\n'
        % (user, HANDOFF_LINE, b'{"role":"exit"}', stub)
    )


def test_of_repeated_keys_the_one_that_was_read_is_written():
    row = only(b'{"messages":[],"messages":[{"role":"user","content":"a","content":"b"}]}')
    assert row.conversation.messages == (Message(Role.USER, "b"),)
    assert row.render([HANDOFF]) == b'{"messages":[],"messages":[%s]}' % HANDOFF_LINE


def test_a_conversation_may_begin_with_the_byte_order_mark():
    content = b"\xef\xbb\xbf" + line(messages=[{"role": "user", "content": "a"}])
    assert only(content).render([HANDOFF]) == b'\xef\xbb\xbf{"messages": [%s]}\n' % HANDOFF_LINE


# Real files


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no folder shared/transcripts/openai-chat beside the project")
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.jsonl")), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte(path):
    found = list(rows(lines(path), path.name))
    assert not [fault for row in found for fault in row.faults]
    assert b"".join(rendered(row) for row in found) == path.read_bytes()
