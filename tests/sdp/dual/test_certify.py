"""Who makes certificates: one module, and nobody else."""

import ast
from pathlib import Path

import isofold.sdp

ROOM = Path(isofold.sdp.__file__).parent


def makers(name):
    """Return the files of the engine that call a name."""
    return {
        path.relative_to(ROOM).as_posix()
        for path in ROOM.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


def test_only_certify_makes_certificates():
    assert makers("Certificate") == {"dual/certify.py"}


def test_only_the_reduction_makes_solutions():
    assert makers("SDPSolution") == {"reduction.py"}
