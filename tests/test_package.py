"""Does the package as a whole keep its promises: version, schemas, docstrings, sizes, nobody's paths?"""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import compactor

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "compactor"
MODULES = sorted(PACKAGE.rglob("*.py"))
SCHEMAS = sorted(PACKAGE.glob("schemas/*.json"))
# Longer than these, and a reader has to scroll.
FUNCTION_LINES = 45
FILE_LINES = 250
# Where people keep their homes: nothing in the package can mean such a place.
SOMEBODYS_PATH = re.compile(r"/(?:home|Users|root)/|\b[A-Za-z]:\\+Users\b")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def long_functions(source: str) -> list[tuple[str, int, int]]:
    """(name, first line, lines) of every function over FUNCTION_LINES."""
    defs = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    sizes = ((n.name, n.lineno, (n.end_lineno or 0) - n.lineno + 1) for n in defs)
    return [size for size in sizes if size[2] > FUNCTION_LINES]


def test_version_is_the_one_of_the_project_file():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert compactor.__version__ == project["version"]


def test_there_are_modules_and_schemas():
    assert MODULES
    assert SCHEMAS


@pytest.mark.parametrize("path", SCHEMAS, ids=name)
def test_schema_is_valid_draft_2020_12(path):
    schema = json.loads(path.read_bytes())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


def test_nothing_names_a_place_on_somebodys_machine():
    files = [p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    lines = [(p, n, t) for p in files for n, t in enumerate(p.read_text(encoding="utf-8").splitlines(), 1)]
    found = [f"{name(p)}:{n}: {t.strip()}" for p, n, t in lines if SOMEBODYS_PATH.search(t) or str(ROOT) in t]
    assert not found, "\n".join(found)


def test_every_module_says_which_question_it_answers():
    silent = [name(p) for p in MODULES if not ast.get_docstring(ast.parse(p.read_bytes()))]
    assert not silent, f"no module docstring: {', '.join(silent)}"


def test_no_function_is_too_long():
    found = [
        f"{name(path)}:{line}: {function} has {lines} lines, over {FUNCTION_LINES}"
        for path in MODULES
        for function, line, lines in long_functions(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("lines", "found"), [(45, []), (46, [("f", 2, 46)])])
def test_a_function_is_measured_from_def_to_its_last_line(lines, found):
    body = "    pass\n" * (lines - 1)
    assert long_functions(f"@staticmethod\ndef f():\n{body}") == found


def test_no_file_is_too_long():
    sizes = [(name(path), len(path.read_text(encoding="utf-8").splitlines())) for path in MODULES]
    found = [f"{path} has {lines} lines, over {FILE_LINES}" for path, lines in sizes if lines > FILE_LINES]
    assert not found, "\n".join(found)
