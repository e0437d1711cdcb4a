"""What a shell command does is told from its own words."""

import pytest

from compactor.core.commands import brief, kind, only_looks


def test_a_here_document_is_left_out_of_the_command():
    command = "cat > a.py << 'EOF'\nimport os\nos.remove('x')\nEOF\npython a.py"
    assert brief(command) == "cat > a.py << 'EOF' … EOF python a.py"


@pytest.mark.parametrize(
    ("subject", "sort"),
    [
        ("pytest -q tests/test_a.py", "pytest tests/test_a.py"),
        ("cd /srv && pytest -q 2>&1 | tail -3", "pytest"),
        ("CI=1 timeout 60 npm run build --silent", "npm run build"),
        ('python -c "import x; print(1)"', "python -c"),
        ("python -m pytest -q", "python -m pytest"),
        ("cat > fix.py <<'EOF' … EOF python fix.py", "python fix.py"),
        ("git commit -m 'x'", "git commit"),
        ("Edit(/srv/a.py)", "Edit(/srv/a.py)"),
        ("book_flight(HAT1)", "book_flight"),
        ("", ""),
    ],
)
def test_kind(subject, sort):
    assert kind(subject) == sort


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("cat a.py", True),
        ("cd src && rg -n 'foo|bar' 2>/dev/null | head -20", True),
        ("sed -n '1,20p' a.py; git status -sb", True),
        ("git log --oneline 2>&1 | wc -l", True),
        ("cat a.py > b.py", False),
        ("cat > a.py <<'EOF'\nx\nEOF", False),
        ("ls && pytest -q", False),
        ("sed -i s/a/b/ a.py", False),
        ("git branch -D old", False),
        ("rg -l x | xargs rm", False),
        ("", False),
    ],
)
def test_looking_changes_and_runs_nothing(command, looks):
    assert only_looks(command) is looks
