"""Which files a call read or wrote is told from its arguments, for the tools and shell commands in use."""

import pytest

from compactor.core.touches import COMMAND_CHARS, How, Touch, plausible, shell_touches, touches
from tests.test_acts import act, done


def paths(found):
    return [(t.path, str(t.how)) for t in found]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("Read", {"file_path": "/srv/a.py"}, [("/srv/a.py", "read")]),
        ("read_file", {"path": "a.py"}, [("a.py", "read")]),
        ("Write", {"file_path": "/srv/a.py", "content": "x"}, [("/srv/a.py", "created")]),
        ("Edit", {"file_path": "/srv/a.py", "old_string": "x", "new_string": "y"}, [("/srv/a.py", "modified")]),
        ("str_replace_based_edit_tool", {"command": "create", "path": "/srv/a.py"}, [("/srv/a.py", "created")]),
        ("str_replace_based_edit_tool", {"command": "view", "path": "/srv/a.py"}, [("/srv/a.py", "read")]),
        ("str_replace_editor", {"command": "str_replace", "path": "/srv/a.py"}, [("/srv/a.py", "modified")]),
        ("NotebookEdit", {"notebook_path": "/srv/a.ipynb"}, [("/srv/a.ipynb", "modified")]),
        ("deleteFile", {"filename": "old.txt"}, [("old.txt", "deleted")]),
        ("Read", {"file_path": "/srv/with a blank.py"}, [("/srv/with a blank.py", "read")]),
        ("Grep", {"pattern": "x", "path": "/srv/src"}, []),
        ("Glob", {"pattern": "**/*.py", "path": "/srv"}, []),
        ("book", {"path": "/srv/a.py"}, []),
        ("Read", {"file_path": 7}, []),
        ("Read", "[1]", []),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** Delete File: c.py\n"},
            [("a.py", "modified"), ("b.py", "created"), ("c.py", "deleted")],
        ),
    ],
)
def test_tools(name, arguments, expected):
    assert paths(touches(act(name, arguments, "ok"))) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat src/a.py", [("src/a.py", "read")]),
        ("cd /srv && sed -n '1,5p' src/a.py | head -3", [("src/a.py", "read")]),
        ("cd /srv && cat /srv/src/a.py", [("src/a.py", "read")]),
        ("grep -n 'os.path' src/a.py", [("src/a.py", "read")]),
        ("sed -i 's/a/b/' src/a.py", [("src/a.py", "modified")]),
        ("echo hi > out.txt", [("out.txt", "created")]),
        ("echo hi >> out.txt 2>/dev/null", [("out.txt", "modified")]),
        ("make 2>&1 | tee build.log", [("build.log", "created")]),
        ("make > /dev/null 2>&1", []),
        ("cat > fix.py << 'EOF'\nrm -f precious.txt\nEOF", [("fix.py", "created")]),
        ("git mv a.py b.py", [("a.py", "deleted"), ("b.py", "created")]),
        ("cp a.py b.py", [("b.py", "created")]),
        ("rm -rf build/x.o && touch src/__init__.py", [("build/x.o", "deleted"), ("src/__init__.py", "created")]),
        ("git checkout -- src/a.py", [("src/a.py", "modified")]),
        ("git checkout main", []),
        ("sudo cat /etc/hosts.conf", [("/etc/hosts.conf", "read")]),
        ("python - <<'EOF'\nopen('data/x.json', 'w').write('1')\nEOF", [("data/x.json", "modified")]),
        ("ls *.py && cat $HOME/x.py && cat {a,b}.py", []),
        ("git apply <<'EOF'\n--- a/x.py\n+++ b/x.py\n@@\nEOF", [("x.py", "modified")]),
        ("", []),
    ],
)
def test_shell(command, expected):
    assert paths(touches(act("bash", {"command": command}, "ok"))) == expected


def test_a_tool_that_failed_touched_nothing():
    assert touches(act("Edit", {"file_path": "/a.py"}, "no", failed=True)) == ()
    assert touches(done("Edit", {"file_path": "/a.py"})[0]) == ()


def test_a_command_that_failed_did_all_but_its_end():
    failed = act("bash", {"command": "cat > t.py <<'E'\nx\nE\npython t.py > out.txt"}, "<returncode>1</returncode>")
    assert touches(failed) == (Touch("t.py", How.CREATED),)


@pytest.mark.parametrize(
    "path", ["a.py", "src/a", "/etc/hosts", "C:\\src\\a.py", ".github/workflows/ci.yml", "修复/说明.md"]
)
def test_plausible(path):
    assert plausible(path)


@pytest.mark.parametrize(
    "path",
    ["", "-n", "*.py", "$HOME/x", "https://x.example/a", "/dev/null", "1.5", "..", "a\nb", "word", "f(x).y", "x" * 999],
)
def test_not_plausible(path):
    assert not plausible(path)


@pytest.mark.parametrize("unit", ["'", '"', '\\"', "a>", "<<", "cat a.py;", "\\"])
def test_generated_commands_take_no_time(unit):
    list(shell_touches(unit * 200_000))  # a pattern that runs back and forth would hang here
    assert COMMAND_CHARS < 10_000
