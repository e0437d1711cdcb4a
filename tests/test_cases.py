"""Failures that users of other compactors reported, each as a test here; the name carries the number of the case."""

import json
from itertools import pairwise

import pytest

from compactor.core.finish import Compacted, Rejected, finish
from compactor.core.handoff import is_handoff, role_between
from compactor.core.merge import Merged, merged
from compactor.core.messages import Call, Conversation, Kept, Message, Result, Role, applied, groups
from compactor.core.plan import Step, make_plan
from compactor.core.prune import STUB_SENTENCE, stub
from compactor.core.settings import Settings, Trigger
from compactor.core.state import Entry, extended
from compactor.core.summary import Summary, parse, render, strip_reasoning
from compactor.core.tokens import message_cost
from compactor.core.verify import result_messages
from compactor.redact import masker
from compactor.tokenizer import tokenizer
from tests.making import judge

COUNT = tokenizer()
SMALL = Settings(context_window=4_000)
NOTES = Summary({"goal": ("- mend the pump",), "done": ("- read the log",)})
S = Message(Role.SYSTEM, "You keep the pump running.")


def words(text, size):
    return " ".join(f"{text} {n}" for n in range(size))


def user(text):
    return Message(Role.USER, text)


def says(text):
    return Message(Role.ASSISTANT, text)


def calls(*ids, text="", arguments='{"command": "ls"}'):
    return Message(Role.ASSISTANT, text, tuple(Call(i, "bash", arguments) for i in ids))


def result(call_id, text="ok"):
    return Message(Role.TOOL, results=(Result(call_id, text),))


def compacted(messages, settings=SMALL, summary=NOTES, entries=()):
    plan = make_plan(Conversation(tuple(messages)), entries, settings, COUNT)
    return plan, finish(plan, Merged(summary, Summary({})) if plan.request else None, {}, settings, COUNT)


def left(messages, settings=SMALL):
    plan, done = compacted(messages, settings)
    assert isinstance(done, Compacted), done
    return plan, result_messages(plan.conversation, done.pieces)


def chat(turns, size=40):
    return [m for n in range(turns) for m in (user(words(f"ask {n}", size)), says(words(f"answer {n}", size)))]


def test_case_h1_a_call_that_nothing_answered_goes_and_its_words_stay():
    messages = [S, user("go"), calls("x", text="I look"), *chat(20)]
    _, after = left(messages)
    assert not any(m.calls for m in after)
    assert applied(messages[2], Kept(2, without_calls=frozenset({0}))).text == "I look"


def test_case_h2_the_tail_never_opens_with_a_result():
    rounds = [m for n in range(100) for m in (calls(f"c{n}"), result(f"c{n}", words("line", 15)))]
    _, after = left([S, user("go"), *rounds, says("done")])
    at = next(n for n, m in enumerate(after) if is_handoff(m))
    assert not after[at + 1].results


@pytest.mark.parametrize(("asked", "answered"), [("c1", " c1"), (" c1", "c1")])
def test_case_h3_ids_are_compared_without_blanks(asked, answered):
    [group] = groups([calls(asked), result(answered)])
    assert (group.open, group.orphans) == ((), ())


def test_case_h5_a_result_that_came_twice_stays_once():
    tail = [user("look"), calls("x"), result("x", "first"), result("x", "second"), says("done")]
    _, after = left([S, *chat(20), *tail])
    assert [r.text for m in after for r in m.results] == ["first"]


def test_case_h6_a_constant_id_pairs_with_the_call_right_before():
    found = groups([calls("x"), result("x", "1"), calls("x"), result("x", "2")])
    assert [(g.start, g.stop, g.open, g.orphans) for g in found] == [(0, 2, (), ()), (2, 4, (), ())]


def test_case_h9_a_call_that_is_under_way_at_the_end_stays():
    _, after = left([S, *chat(20), user("now"), calls("x")])
    assert after[-1].calls


@pytest.mark.parametrize("arguments", ['{"content": {"a": 1}}', '{"command": true}', "[1]", "not json", ""])
def test_case_h14_h15_odd_arguments_do_not_break_a_stub(arguments):
    assert stub(Call("x", "bash", arguments), Result("x", words("line", 100)), SMALL).startswith(STUB_SENTENCE)


def test_case_h19_a_stub_says_that_a_call_failed():
    failed = json.dumps({"success": False, "error": "no such table", "log": words("x", 100)})
    assert "FAILED" in stub(Call("x", "query", "{}"), Result("x", failed), SMALL)


def test_case_h24_roles_alternate_around_the_handoff():
    _, after = left([S, *chat(30)])
    roles = [m.role for m in after if m.role is not Role.SYSTEM]
    assert all(a != b for a, b in pairwise(roles))


def test_case_h26_h27_without_a_user_before_it_the_handoff_is_the_users():
    assert role_between([S], [calls("x"), result("x")])[0] is Role.USER


def test_case_h29_p83_the_task_outlives_huge_results():
    rounds = [m for n in range(3) for m in (calls(f"c{n}"), result(f"c{n}", words("line", 3_000)))]
    _, after = left([S, *chat(8), user("the very last request"), *rounds])
    assert any("the very last request" in m.text for m in after)


def test_case_h31_a_handoff_is_not_taken_for_the_last_user_message():
    _, first = left([S, *chat(20), user("the real question"), calls("x"), result("x")])
    grown = [*first, *(m for n in range(40) for m in (calls(f"c{n}"), result(f"c{n}", words("line", 30))))]
    _, after = left(grown)
    assert any("the real question" in m.text for m in after)


def test_case_h35_h36_compacted_again_there_is_one_handoff_and_it_is_not_read_as_a_turn():
    _, first = left([S, *chat(20)])
    plan, after = left([*first, *chat(20)])
    assert sum(map(is_handoff, after)) == 1
    assert not any(map(is_handoff, plan.request.turns.messages))


@pytest.mark.parametrize(
    "old", ["[CONTEXT SUMMARY]: they did things", "[CONTEXT COMPACTION — REFERENCE ONLY] ## Goal\n- x"]
)
def test_case_h40_older_prefixes_are_known(old):
    _, after = left([S, user("go"), user(old), *chat(30)])
    assert not any(old in m.text for m in after)


def test_case_h41_the_handoff_is_never_last():
    _, after = left([S, *chat(30)])
    assert not is_handoff(after[-1])


def test_case_h54_p45_nothing_to_do_is_no_failure_and_no_call():
    plan, _ = compacted([S, *chat(2)], Settings(context_window=4_000, trigger_mode=Trigger.FORCE))
    assert plan.request is None
    assert plan.step is Step.UNTOUCHED


def test_case_h55_what_would_not_be_smaller_is_refused():
    long = Summary({"done": tuple(f"- {words('item', 40)} {n}" for n in range(200))})
    _, done = compacted([S, *chat(20)], summary=long)
    assert isinstance(done, Rejected)


def test_case_h58_h59_calls_and_reasoning_have_a_price():
    bare = message_cost(says("x"), COUNT)
    assert message_cost(calls("a", "b", "c", "d", text="x"), COUNT) > bare + 4 * 3
    assert message_cost(Message(Role.ASSISTANT, "x", reasoning=words("why", 50)), COUNT) > bare + 50


def test_case_h60_p54_chinese_is_counted_not_guessed():
    text = "请先读取配置文件，然后修复失败的测试。" * 20
    assert COUNT(text) > len(text) / 4 * 1.5


def test_case_h61_h62_huge_results_in_the_tail_give_way_to_its_budget():
    rounds = [m for n in range(8) for m in (calls(f"c{n}"), result(f"c{n}", words("line", 2_000)))]
    plan, after = left([S, *chat(15), user("look at these"), *rounds])
    assert any(r.text.startswith(STUB_SENTENCE) for m in after for r in m.results)
    assert plan.sizes.tail <= SMALL.tail_budget or plan.step is Step.PRUNE


def test_case_h63_one_endless_turn_is_cut_between_groups():
    rounds = [m for n in range(200) for m in (calls(f"c{n}"), result(f"c{n}", words("line", 15)))]
    plan, after = left([S, user("go"), *rounds])
    assert plan.step is Step.SUMMARISE
    assert not [g for g in groups(after) if g.orphans or (g.open and g.stop < len(after))]


def test_case_h67_p93_a_key_in_a_result_is_masked():
    key = "sk-" + "proj-" + "Ab12" * 8
    assert key not in masker()(f"OPENAI_API_KEY={key}")


@pytest.mark.parametrize("text", ["half \ud83d", "\udc00 alone"])
def test_case_h69_p64_half_a_character_is_no_crash(text):
    plan, done = compacted([S, user(words(text, 50)), says(text), *chat(20), user(text)])
    assert isinstance(done, Compacted)
    assert plan.request


def test_case_h44_p82_a_prohibition_of_the_user_is_kept_word_for_word():
    rule = "Do NOT push to the main branch."
    plan, _ = compacted([S, *chat(5), user(rule), says("Understood."), *chat(20)])
    assert rule in render(merged(plan.request, Summary({}), COUNT).summary)


COMPLETE = render(NOTES)
REJECTED = {
    "p4 empty": "",
    "p11 refusal": "I'm sorry, but I can't help with that.",
    "p12 an error as prose": "Error: upstream provider is overloaded, try again later.",
    "p16 tool syntax": '<tool_call>{"name": "bash"}</tool_call>',
    "p19 thinking only": "<think>I should first look at the goal",
    "p20 too long": COMPLETE + "\n" + words("- and more", 3_000),
    "p28 free prose": "They worked on the pump and then went home.",
}


@pytest.mark.parametrize("case", REJECTED)
def test_case_p4_p11_p12_p16_p19_p20_p28_what_is_no_summary_is_refused(case):
    assert isinstance(judge(strip_reasoning(REJECTED[case]), 500, COUNT), str)


def test_case_p15_thinking_around_a_summary_is_stripped():
    assert judge(strip_reasoning(f"<think>hm</think>\n{COMPLETE}"), 500, COUNT) == NOTES


def test_case_p24_the_same_bullet_twice_is_one():
    text = COMPLETE.replace("- read the log", "- read the log\n- read the log")
    assert parse(text)[0]["done"] == ("- read the log",)


def test_case_p71_the_newest_of_two_handoffs_wins():
    old, new = "[CONTEXT SUMMARY]: the old one", "[CONTEXT SUMMARY]: the new one"
    plan, _ = left([S, user(old), says("yes"), user(new), *chat(30)])
    assert "the new one" in render(plan.request.previous)


def test_case_p74_the_same_input_and_state_make_no_call_and_the_same_pieces():
    plan, done = compacted([S, *chat(30)])
    entry = extended(Entry("0" * 16), done.generation)
    again, same = compacted([S, *chat(30)], entries=(entry,))
    assert again.request is None
    assert same.pieces == done.pieces
    assert plan.request is not None


def test_case_p91_one_user_turn_is_pruned_by_tokens():
    rounds = [m for n in range(40) for m in (calls(f"c{n}"), result(f"c{n}", words("line", 200)))]
    _, after = left([S, user("go"), *rounds])
    assert sum(r.text.startswith(STUB_SENTENCE) for m in after for r in m.results) or any(map(is_handoff, after))
