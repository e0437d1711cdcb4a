"""Which replies become a summary, and what happens to the others?"""

from dataclasses import replace

import pytest

from compactor.core.summary import Summary, parse, render, strip_reasoning
from compactor.errors import PromptTooLong, SummarizerUnavailable, SummaryError
from compactor.summarizers import Reply, Usage, summarise
from tests.asked import COUNT, asked, notes, run
from tests.making import judge


def lacking(*headings):
    """Notes without these headings; what stood under them moves up."""
    return "\n".join(line for line in notes().splitlines() if line.strip("# ") not in headings)


ACCEPTED = {
    "plain": notes(),
    "no blank lines": notes().replace("\n\n", "\n"),
    "windows line ends": notes().replace("\n", "\r\n"),
    "a sentence before": f"Here are the notes you wanted:\n\n{notes()}",
    "a sentence of regret before": f"Sorry for the wait.\n\n{notes()}",
    "fences": f"```markdown\n{notes()}\n```",
    "bare fences": f"```\n{notes()}\n```",
    "bold headings": notes().replace("## Goal", "## **Goal**").replace("### Done", "### **Done:**"),
    "numbered headings": notes().replace("## Goal", "## 1. Goal").replace("## Key", "## 4) Key"),
    "closed headings": notes().replace("## Goal", "## Goal ##"),
    "colons": notes().replace("## Goal", "## Goal:"),
    "and for &": notes().replace(" & ", " and "),
    "capitals": notes().replace("## Next Steps", "## NEXT STEPS"),
    "other levels": notes().replace("### ", "## "),
    "another order": notes() + "\n\n## Goal\n- goal once more",
    "one section with words": notes(**dict.fromkeys(("done", "files", "tools", "context", "blocked"), "(none)")),
    "thinking before": f"<think>They want notes.\n## Goal\n- no</think>{notes()}",
    "thinking whose beginning is lost": f"They want notes.</think>\n{notes()}",
    "thinking by another name": f"<reasoning>Hm.</reasoning>\n<thought>Hm!</thought>\n{notes()}",
    "an apology inside": notes(blocked="- I'm sorry, but I can't open the file, said the assistant"),
    "Chinese text": notes(goal="- 修复崩溃", next_steps="- 抱歉，构建还没有运行"),
}
REFUSED = {
    "nothing": ("", "empty"),
    "blanks": (" \n\t\n", "empty"),
    "only thinking": ("<think>They want notes.</think>", "empty"),
    "thinking without an end": (f"<think>They want notes. {notes()}", "empty"),
    "prose": ("The user wanted a fix, and it was made.", "lacks the headings Goal, "),
    "a provider's error": ("Error: upstream connect error or disconnect/reset before headers.", "lacks the headings"),
    "a tool call as text": ('<tool_call>{"name": "bash", "arguments": {}}</tool_call>', "lacks the headings"),
    "the conversation goes on": ("Sure, I'll run the tests now!", "lacks the headings"),
    "a refusal": ("I'm sorry, but I can't assist with that request.", "refusal: \"I'm sorry"),
    "a refusal with capitals": ("I CANNOT help with this.", "refusal"),
    "a refusal in German": ("Es tut mir leid, dabei kann ich nicht helfen.", "refusal"),
    "a refusal in Chinese": ("抱歉，我无法协助处理该请求。", "refusal"),
    "a refusal in Japanese": ("申し訳ありませんが、お手伝いできません。", "refusal"),
    "one heading short": (lacking("Key Decisions"), "lacks the heading Key Decisions"),
    "two headings short": (lacking("Done", "Tools & Patterns"), "lacks the headings Done, Tools & Patterns"),
    "headings without their signs": (notes().replace("#", ""), "lacks the headings"),
    "headings alone": ("\n".join(x for x in notes().splitlines() if x.startswith("#")), "every section"),
    "(none) everywhere": (
        "\n".join(x if x.startswith("#") else "(none)" for x in notes().splitlines() if x),
        "every section",
    ),
    "too long": (notes(done="\n".join(f"- step {n}: {n * 7919}" for n in range(600))), "tokens where 2,000 are"),
}


@pytest.mark.parametrize("reply", ACCEPTED.values(), ids=ACCEPTED)
def test_a_summary_is_taken_however_it_is_dressed(reply):
    summary = judge(strip_reasoning(reply), 2_000, COUNT)
    assert isinstance(summary, Summary), summary
    assert summary["goal"]
    assert parse(render(summary)) == (summary, ())


@pytest.mark.parametrize(("reply", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_summary_is_refused_with_a_reason(reply, complaint):
    verdict = judge(strip_reasoning(reply), 2_000, COUNT)
    assert isinstance(verdict, str), verdict
    assert complaint in verdict


def test_thinking_leaves_no_trace_in_the_summary():
    summary = judge(strip_reasoning(f"<think>## Goal\n- a guess</think>{notes()}"), 2_000, COUNT)
    assert isinstance(summary, Summary)
    assert summary["goal"] == ("- goal of app/main.py",)


def test_the_ceiling_is_met_to_the_token():
    size = COUNT(render(parse(notes())[0]))
    assert isinstance(judge(notes(), size, COUNT), Summary)
    assert judge(notes(), size - 1, COUNT) == f"the reply has {size:,} tokens where {size - 1:,} are allowed"


class Script:
    """Answers what it was given, one after the other, and keeps what it was asked."""

    name = "script"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    async def reply(self, request):
        self.asked.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def close(self):
        pass


COST = Usage(1, 100, 40, 10)


def test_a_good_first_reply_is_one_call():
    script = Script(Reply(notes(), usage=COST))
    summary, usage = run(summarise(script, asked(), COUNT, str))
    assert summary["files"] == ("- files of app/main.py",)
    assert usage == COST


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (Reply("", usage=COST), "the reply is empty"),
        (Reply(lacking("Goal"), usage=COST), "the reply lacks the heading Goal"),
        (Reply(notes(), fault="it was cut off at the output limit", usage=COST), "cut off at the output limit"),
    ],
    ids=["empty", "a heading short", "whole to look at, but cut off"],
)
def test_a_second_call_asks_differently_and_says_why(first, complaint):
    script = Script(first, Reply(notes(), usage=COST))
    summary, usage = run(summarise(script, asked(), COUNT, str))
    assert isinstance(summary, Summary)
    assert usage == Usage(2, 200, 80, 20)
    before, after = script.asked
    assert after.user != before.user
    assert complaint in after.user
    assert complaint not in before.user
    assert (after.ceiling, after.turns, after.previous) == (before.ceiling, before.turns, before.previous)


def test_a_second_failure_is_the_last():
    script = Script(Reply("no"), Reply("", fault="the provider's content filter stopped it"), Reply(notes()))
    with pytest.raises(SummaryError, match=r"script.*content filter stopped it") as caught:
        run(summarise(script, asked(), COUNT, str))
    assert not isinstance(caught.value, SummarizerUnavailable)
    assert caught.value.next_step
    assert len(script.asked) == 2


@pytest.mark.parametrize("kind", [SummaryError, SummarizerUnavailable])
def test_an_error_is_not_asked_again(kind):
    script = Script(kind("the endpoint is gone"), Reply(notes()))
    with pytest.raises(kind, match="the endpoint is gone"):
        run(summarise(script, asked(), COUNT, str))
    assert len(script.asked) == 1


def hidden(text):
    return text.replace("hunter2", "[SECRET]")


def test_a_secret_is_neither_sent_nor_accepted():
    script = Script(Reply(lacking("Goal") + "\n- hunter2"), Reply(notes(context="- the password is hunter2")))
    summary, _ = run(summarise(script, asked("the password is hunter2"), COUNT, hidden))
    assert summary["context"] == ("- the password is [SECRET]",)
    assert ["hunter2" in request.user for request in script.asked] == [False, False]
    assert all("the password is [SECRET]" in request.user for request in script.asked)


LONG = notes(done="\n".join(f"- step {n}: {n * 7919}" for n in range(600)))


def test_a_reply_that_is_only_too_long_goes_back_to_be_shortened():
    script = Script(Reply(LONG, usage=COST), Reply(notes(), usage=COST))
    summary, usage = run(summarise(script, asked(), COUNT, str))
    assert summary["done"] == ("- done of app/main.py",)
    assert usage.calls == 2
    first, second = script.asked
    assert "step 599" in second.user
    assert "at most 2,000 tokens" in second.user
    assert "<transcript>" in first.user
    assert "<transcript>" not in second.user


@pytest.mark.parametrize(
    "second",
    [Reply(LONG), Reply("no"), Reply("", fault="it was cut off at the output limit"), SummaryError("HTTP 500")],
    ids=["too long again", "no summary", "cut off", "an error"],
)
def test_what_is_too_long_still_is_cut_between_items(second):
    summary, _ = run(summarise(Script(Reply(LONG), second), asked(), COUNT, str))
    assert COUNT(render(summary)) <= 2_000
    assert summary["goal"] == ("- goal of app/main.py",)
    assert set(summary["done"]) < set(LONG.splitlines())
    assert summary["done"][-1] == "- step 599: 4743481"


def test_of_two_that_are_too_long_the_shorter_is_cut():
    shorter = notes(done="\n".join(f"- move {n}: {n * 7919}" for n in range(300)))
    summary, _ = run(summarise(Script(Reply(LONG), Reply(shorter)), asked(), COUNT, str))
    assert all(line.startswith("- move") for line in summary["done"])


def test_what_is_far_too_long_is_not_sent_back():
    script = Script(Reply(notes(done="\n".join(f"- step {n}: {n * 7919}" for n in range(3_000)))), Reply(notes()))
    run(summarise(script, asked(), COUNT, str))
    assert "step 2999" not in script.asked[1].user
    assert "<transcript>" in script.asked[1].user


@pytest.mark.parametrize(("counted", "believed"), [(0, True), (5_900, False), (6_100, True), (20_000, True)])
def test_a_prompt_that_was_not_read_brings_no_summary(counted, believed):
    request = replace(asked(), size=10_000)
    script = Script(Reply(notes(), usage=Usage(1, counted, 0, 10)))
    if believed:
        run(summarise(script, request, COUNT, str))
        return
    with pytest.raises(PromptTooLong, match="has read only 5,900 of 10,000 tokens") as caught:
        run(summarise(script, request, COUNT, str))
    assert (caught.value.window, caught.value.counted) == (5_900, 10_000)
    assert caught.value.spent.calls == 1
