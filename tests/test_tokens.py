"""Does a message cost what a model's provider charges for it?"""

import pytest
from hypothesis import given

from compactor.core.messages import Conversation, Message, Result, Role
from compactor.core.tokens import PER_IMAGE, costs, message_cost, preamble_cost, upper_bound
from compactor.tokenizer import tokenizer
from tests.making import COUNT, answer, call, calls, conversation, conversations, result, says, user

# The example of the cookbook's "How to count tokens with tiktoken" (MIT), for which the API's own figures are printed.
COOKBOOK = (
    Message(
        Role.SYSTEM,
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain English.",
    ),
    Message(Role.SYSTEM, "New synergies will help drive top-line growth.", name="example_user"),
    Message(Role.SYSTEM, "Things working well together will increase revenue.", name="example_assistant"),
    Message(
        Role.SYSTEM,
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
        name="example_user",
    ),
    Message(Role.SYSTEM, "Let's talk later when we're less busy about how to do better.", name="example_assistant"),
    user(
        "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    ),
)


@pytest.mark.parametrize(("encoding", "billed"), [("o200k_base", 124), ("cl100k_base", 129)])
def test_the_cookbook_s_messages_cost_what_the_api_says(encoding, billed):
    count = tokenizer(encoding)
    assert count.exact
    assert preamble_cost(conversation(), count) + sum(costs(COOKBOOK, count)) == billed


ENVELOPE = 3 + COUNT("user")


@pytest.mark.parametrize(
    ("message", "cost"),
    [
        (user(""), ENVELOPE),
        (user("four"), ENVELOPE + 1),
        (user("four", name="kimk"), ENVELOPE + 1 + 2),
        (user("", image_tokens=85), ENVELOPE + 85),
        (user("", other="four"), ENVELOPE + 1),
        (user("", answer("an id is free", "four"), answer("b", "fourfour", image_tokens=85)), ENVELOPE + 3 + 85),
        (says("four", reasoning="four"), 3 + COUNT("assistant") + 2),
        (says(calls=(call("free", "bash", "{}"), call("free", "bash", "fourfour"))), 3 + COUNT("assistant") + 5 + 6),
    ],
    ids=["blank", "words", "name", "image", "other", "results", "reasoning", "calls"],
)
def test_what_a_message_costs_by_hand(message, cost):
    assert message_cost(message, COUNT) == cost


def test_a_preamble_is_charged_once():
    assert preamble_cost(conversation(), COUNT) == 3
    assert preamble_cost(conversation(preamble="fourfour"), COUNT) == 5


def test_an_image_of_unknown_size_costs_six_tiles():
    assert PER_IMAGE == 85 + 6 * 170


@given(conversations())
def test_no_conversation_costs_more_than_its_bytes(talk):
    every = preamble_cost(talk, COUNT) + sum(costs(talk.messages, COUNT))
    assert every <= upper_bound(talk)


REAL = tokenizer("o200k_base")


@pytest.mark.parametrize(
    "message",
    [
        user("修复崩溃 \ud83d \ud83d\ude00 \U0001f600 é\u0301 \u2028 <|endoftext|>"),
        user("", name="\x00\x01"),
        calls("c1", "c2", text="\t \n"),
        result("c1", "\x1b[31mError\x1b[0m " * 50),
        Message(Role.USER, results=(Result("c1", "", image_tokens=1_105),)),
    ],
    ids=["scripts", "name", "calls", "result", "image"],
)
def test_no_message_costs_more_than_its_bytes_in_a_real_vocabulary_either(message):
    talk = conversation(message, preamble='[{"name":"修"}]')
    assert preamble_cost(talk, REAL) + message_cost(message, REAL) <= upper_bound(talk)


def test_what_only_the_model_can_read_costs_what_is_stated():
    plain, sealed = Message(Role.ASSISTANT, "a"), Message(Role.ASSISTANT, "a", sealed_tokens=700)
    assert message_cost(sealed, len) - message_cost(plain, len) == 700
    assert upper_bound(Conversation((sealed,))) - upper_bound(Conversation((plain,))) == 700
