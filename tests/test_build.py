"""The build says what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_without_a_compiler(tmp_path):
    package = tmp_path / "src" / "isofold"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0"\n', encoding="utf-8")
    (package / "kernel.pyx").write_text("answer = 42\n", encoding="utf-8")
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    finished = subprocess.run(
        [sys.executable, "setup.py", "build_ext"],
        cwd=tmp_path,
        env={**os.environ, "CXX": "no-such-compiler"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 1
    assert "error: the C++ compiler 'no-such-compiler' was not found." in finished.stderr
    for cure in ("apt-get install g++", "xcode-select", "Build Tools", "cxx-compiler", "CXX"):
        assert cure in finished.stderr
    assert "Traceback" not in finished.stderr
