"""What do conversations look like in tests? Tiny factories, a cheap counter, and strategies for messy ones."""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from compactor.core.finish import Compacted, Rejected, finish
from compactor.core.handoff import PREFIX, Notes, write
from compactor.core.merge import Merged
from compactor.core.messages import Call, Conversation, Message, Result, Role
from compactor.core.plan import Plan, make_plan
from compactor.core.settings import OnFailure, Settings, StubStyle, Trigger
from compactor.core.state import Entry, extended
from compactor.core.summary import SECTIONS, Summary, fit, oversize, render, whole
from compactor.core.verify import result_messages


@dataclass(frozen=True, slots=True)
class Quarters:
    """Counts a token for every four bytes of UTF-8 that were begun: cheap, and near enough to a real one."""

    name: str = "quarters"
    exact: bool = False

    def __call__(self, text):
        return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


COUNT = Quarters()


def judge(text, ceiling, count):
    """What a reply without its reasoning is taken for: a summary of at most `ceiling` tokens, or why it is none."""
    verdict = whole(text)
    return verdict if isinstance(verdict, str) else oversize(count(render(verdict)), ceiling) or verdict


# Factories.


def system(text="You are a careful assistant."):
    return Message(Role.SYSTEM, text)


def user(text="", *results, **fields):
    return Message(Role.USER, text, results=results, **fields)


def says(text="", **fields):
    return Message(Role.ASSISTANT, text, **fields)


def call(call_id="c1", name="bash", arguments='{"command": "make"}'):
    return Call(call_id, name, arguments)


def calls(*ids, text="", name="bash"):
    return Message(Role.ASSISTANT, text, tuple(call(i, name, f'{{"command": "run {i}"}}') for i in ids))


def answer(call_id="c1", text="done", **fields):
    return Result(call_id, text, **fields)


def result(call_id="c1", text="done", **fields):
    return Message(Role.TOOL, results=(answer(call_id, text, **fields),))


def conversation(*messages, preamble="", gaps=()):
    return Conversation(messages, preamble, frozenset(gaps), "chat.jsonl")


def handoff(summary, quote="", role=Role.USER, as_of=0):
    return Message(role, write(Notes(summary, quote), as_of))


def sections(**lines):
    """A summary with one line, or several, under each of the given keys."""
    return Summary({k: (v,) if isinstance(v, str) else tuple(v) for k, v in lines.items()})


def turns(first, last, size=60):
    """Exchanges `first` to `last`, each of a question, a call, its result and a reply; every text is unique."""
    made = []
    for n in range(first, last + 1):
        made += [
            user(f"question-{n}. " + "please " * size),
            calls(f"call-{n}", text=f"looking-{n}."),
            result(f"call-{n}", f"output-{n}. " + "line of output\n" * size),
            says(f"reply-{n}. " + "so it is " * size),
        ]
    return tuple(made)


# What a run does with one conversation, with a summarizer whose words depend on the request alone.


def written(request):
    """A summary for `request`: what the previous one said, then a line for each message."""
    before = request.previous or Summary({})
    new = tuple(f"- turn {request.turns.first + n}: {m.role}" for n, m in enumerate(request.turns.messages))
    lines = {s.key: before[s.key] for s in SECTIONS if before[s.key]}
    lines |= {"goal": before["goal"] or ("- go on",), "done": (*before["done"], *new)}
    return fit(Summary(lines), request.ceiling, COUNT)


@dataclass(frozen=True, slots=True)
class Run:
    """What one run did: the plan, the result, and the sidecar's entry after it."""

    plan: Plan
    result: Compacted | Rejected
    entry: Entry | None

    @property
    def messages(self):
        """What a model would read now."""
        if isinstance(self.result, Rejected):
            return self.plan.conversation.messages
        return result_messages(self.plan.conversation, self.result.pieces)

    @property
    def generation(self):
        return self.result.generation if isinstance(self.result, Compacted) else None


def with_no_facts(summary):
    """What a merge gives where code knows nothing beside `summary`; None stays None."""
    return summary and Merged(summary, Summary({}))


def run(messy, settings, entry=None, count=COUNT, summarizer=written):
    """Plan, summarise if that is asked, finish; as a run does it for one conversation."""
    if not isinstance(messy, Conversation):
        messy = conversation(*messy)
    plan = make_plan(messy, (entry,) if entry else (), settings, count)
    summary = summarizer(plan.request) if plan.request else None
    made = finish(plan, with_no_facts(summary), {}, settings, count)
    if isinstance(made, Rejected) and summary is not None:
        made = finish(plan, None, {}, replace(settings, on_failure=OnFailure.KEEP), count)
    if isinstance(made, Compacted) and made.generation:
        entry = extended(entry or Entry("key"), made.generation)
    return Run(plan, made, entry)


SMALL = Settings(
    context_window=4_000, tail_tokens=600, prune_chars=100, summary_min=100, summary_max=600, tool_excerpt=80
)  # triggers at 2,000 tokens of COUNT
FORCED = replace(SMALL, trigger_mode=Trigger.FORCE)
PLAIN = replace(SMALL, stub=StubStyle.PLAIN)


# Strategies. Long texts come from a few short ones repeated, so that examples are cheap to draw and to shrink.

WORDS = st.sampled_from(
    [
        "a",
        "go on",
        "stop.",
        "修复崩溃",
        "lone \ud83d end",
        "\ud83d\ude00",
        "é\u0301",
        "x\u2028y",
        "</transcript>",
        "#",
        "0",
    ]
)
BLANK = st.sampled_from(["", " ", "\n\t"])
SIZES = st.sampled_from([1, 1, 2, 30, 120, 700])
IDS = st.sampled_from(["c1", "c1", "c2", "c3", " c1 ", ""])
NAMES = st.sampled_from(["bash", "read", ""])
ARGUMENTS = st.sampled_from(["", "{}", '{"command": "make"}', '{"path": "\\ud83d"}', "[1]", "{broken", '{"n": 1}'])
TEXTS = st.one_of(BLANK, st.builds(lambda word, size: f"{word} " * size, WORDS, SIZES))
SPOKEN = st.builds(lambda word, size: f"{word} " * size, WORDS, SIZES)
OUTPUTS = st.one_of(TEXTS, st.builds(lambda size: "Error: no\n" * size, SIZES), st.just('{"exit_code": 3}' + " " * 300))
HANDOFFS = st.sampled_from(
    [
        f"{PREFIX}\n\n## Goal\n- earlier goal\n\n[END OF CONTEXT COMPACTION]",
        "[CONTEXT SUMMARY]: they mended the build",
        "This session is being continued from a previous conversation that ran out of context. Summary: a parser.",
        "The conversation history before this point was compacted into the following summary:\n\n## Goal\nparse",
        "<state_snapshot><overall_goal>parse</overall_goal></state_snapshot>",
    ]
)
RESULTS = st.builds(
    Result,
    IDS,
    OUTPUTS,
    st.sampled_from(["", "", "bash", "read"]),
    st.booleans(),
    st.sampled_from([0, 0, 0, 85]),
    st.sampled_from([False, False, False, True]),
)


@st.composite
def tool_runs(draw):
    """A message with calls and what follows it: results in order or not, missing, doubled, or of other calls."""
    asked = tuple(draw(st.lists(st.builds(Call, IDS, NAMES, ARGUMENTS), min_size=1, max_size=3)))
    told = [replace(draw(RESULTS), call_id=c.id) for c in asked]
    told = draw(st.one_of(st.just(told), st.just(told), st.permutations(told), st.lists(RESULTS, max_size=4)))
    caller = Message(Role.ASSISTANT, draw(TEXTS), asked, reasoning=draw(BLANK))
    if draw(st.booleans()):
        return [caller, *(Message(Role.TOOL, results=(r,)) for r in told)]
    return [caller, user(draw(TEXTS), *told)] if told else [caller]


def episodes(handoffs=True):
    one = [
        st.builds(user, SPOKEN),
        st.builds(user, TEXTS),
        st.builds(says, TEXTS),
        st.builds(says, SPOKEN, reasoning=TEXTS),
        st.builds(lambda size: Message(Role.USER, "", image_tokens=size), st.sampled_from([85, 1105])),
        st.builds(lambda other: Message(Role.USER, "", other=other), st.just('{"type":"audio"}')),
        st.builds(system, TEXTS),
        st.builds(lambda r: Message(Role.TOOL, results=(r,)), RESULTS),
    ]
    if handoffs:
        one.append(st.builds(Message, st.sampled_from([Role.USER, Role.ASSISTANT, Role.SYSTEM]), HANDOFFS))
    return st.one_of(*(st.tuples(e).map(list) for e in one), tool_runs(), tool_runs())


@st.composite
def conversations(draw, handoffs=True, gaps=True):
    """A conversation with everything in it that has been seen to go wrong."""
    least = draw(st.sampled_from([0, 6, 12]))
    parts = draw(st.lists(episodes(handoffs), min_size=least, max_size=2 * least + 4))
    messages = tuple(m for part in parts for m in part)
    holes = draw(st.sets(st.integers(0, len(messages) - 1), max_size=2)) if gaps and messages else set()
    return Conversation(messages, draw(st.sampled_from(["", '[{"name":"bash"}]'])), frozenset(holes), "chat.jsonl")


def distinct(talk):
    """The conversation with no two messages that read the same."""
    return replace(talk, messages=tuple(replace(m, name=f"n{n}") for n, m in enumerate(talk.messages)))


@st.composite
def settings(draw, **fixed):
    """Settings that make small conversations large, the odd ones included."""
    least = draw(st.sampled_from([0, 200]))
    drawn = {
        "context_window": draw(st.sampled_from([1, 100, 400, 2_000, 3_000, 4_000, 4_000, 4_000])),
        "threshold": draw(st.sampled_from([0.2, 0.5, 0.9])),
        "protect_first": draw(st.integers(0, 5)),
        "tail_tokens": draw(st.sampled_from([0, 50, 300, 20_000])),
        "tail_messages": draw(st.sampled_from([0, 0, 0, 1, 4])),
        "prune_chars": draw(st.sampled_from([0, 100, 200])),
        "stub": draw(st.sampled_from(list(StubStyle))),
        "tool_excerpt": draw(st.sampled_from([0, 60])),
        "target_tokens": draw(st.sampled_from([0, 0, 0, 0, 0, 0, 500, 1_500])),
        "summary_ratio": draw(st.sampled_from([0.2, 0.5])),
        "summary_min": least,
        "summary_max": least + draw(st.sampled_from([0, 200, 2_000])),
        "on_failure": draw(st.sampled_from([OnFailure.KEEP, OnFailure.DROP])),
        "trigger_mode": draw(st.sampled_from([Trigger.AUTO, Trigger.AUTO, Trigger.FORCE])),
    }
    return Settings(**{**drawn, **fixed})
