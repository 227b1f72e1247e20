"""Help texts, completion, and what loading them costs."""

import json
import shlex
import subprocess
import sys

import click
import pytest

from isofold import __version__
from isofold.cli import main
from isofold.cli.main import SHORT_HELP
from isofold.cli.peers import PEERS
from isofold.embedding.catalog import BY_SHELL_NAME
from support.command_runs import run, run_program

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "rich", "pandas", "matplotlib"}
SHELLS = ("bash", "zsh", "fish")

each_command = pytest.mark.parametrize("name", SHORT_HELP)


def load(name):
    return main.get_command(click.Context(main), name)


def words_of(example):
    """Return the arguments of isofold in an example, without what the shell does around it."""
    line = example.partition("#")[0].strip()
    if line.startswith("eval"):
        line = line[line.index("(") + 1 : line.rindex(")")]
    words = shlex.split(line.partition(">")[0])
    assert words[0] == "isofold"
    return words[1:]


def test_help_lists_every_command():
    result = run("--help")
    assert result.exit_code == 0
    assert run().stdout == run("-h").stdout == result.stdout
    assert "\n    isofold embed data.csv -o map.csv" in result.stdout
    assert "\\" not in result.stdout
    for name, text in SHORT_HELP.items():
        assert any(line.split() == [name, *text.split()] for line in result.stdout.splitlines())


@each_command
def test_help_of_a_command(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert result.stdout == run(name, "-h").stdout
    assert SHORT_HELP[name] in result.stdout
    assert "Examples:" in result.stdout
    assert "--quiet" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    # A purpose in one line, then a paragraph.
    first, second = load(name).help.split("\n\n")[:2]
    assert first == SHORT_HELP[name]
    assert len(second.split()) > 15


@each_command
def test_examples_parse(name):
    command = load(name)
    assert len(command.examples) >= 2
    for example in command.examples:
        words = words_of(example)
        assert words[0] == name
        command.make_context(name, words[1:]).close()


def test_every_option_explains_itself():
    for name in SHORT_HELP:
        options = [p for p in load(name).params if isinstance(p, click.Option)]
        assert [option.name for option in options if not option.help] == []


def test_names_of_methods_are_told():
    lines = run("embed", "--help").stdout.splitlines()
    for name, method in BY_SHELL_NAME.items():
        assert [name, *method.title.split()] in [line.split() for line in lines]
    # Names may be broken at their hyphens.
    told = "".join(run("compare", "--help").stdout.split())
    assert all(name in told for name in (*BY_SHELL_NAME, *PEERS))


@pytest.mark.parametrize("name", ["embed", "transform"])
def test_endings_of_maps_are_told(name):
    from isofold.tables import ANNOTATED_ENDING, MAP_ENDINGS
    from isofold.tables.map_files import STREAMED_ENDINGS

    output = next(option for option in load(name).params if option.name == "output")
    always, _, conditional = output.help.partition("If FILE is read at once, also")
    for ending in {*MAP_ENDINGS, ANNOTATED_ENDING, *STREAMED_ENDINGS}:
        is_always = ending in MAP_ENDINGS and ending in STREAMED_ENDINGS
        assert ending in (always if is_always else conditional)


def test_help_loads_nothing_heavy():
    lines = [[], ["--help"], ["--version"], *([name, "--help"] for name in SHORT_HELP)]
    code = (
        "import sys, json\nfrom isofold.cli import main\n"
        f"for line in {lines!r}:\n"
        "    try:\n        main(line)\n    except SystemExit:\n        pass\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = json.loads(finished.stdout.splitlines()[-1])
    assert {module.split(".")[0] for module in loaded} & HEAVY == set()


def test_help_of_the_group_loads_no_command():
    code = (
        "import sys\nfrom isofold.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in sys.modules if m.startswith('isofold.cli.') and m.count('.') > 2])"
    )
    finished = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout.splitlines()[-1] == "[]"


def test_version():
    assert run("--version").stdout == f"isofold {__version__}\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_scripts_name_how_to_install_them(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert result.stderr == ""
    first, *script = result.stdout.splitlines()
    assert first.startswith("# ")
    assert f"isofold completion {shell}" in first
    assert f"_ISOFOLD_COMPLETE={shell}_complete" in "\n".join(script)


def test_bash_accepts_its_script():
    script = run("completion", "bash").stdout
    finished = subprocess.run(
        ["bash", "--norc", "-n"],  # noqa: S607 - the bash of this machine
        input=script, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (finished.returncode, finished.stderr) == (0, "")


def test_completion_completes():
    def complete(*words):
        env = {"_ISOFOLD_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words)}
        finished = run_program(env={**env, "COMP_CWORD": str(len(words) - 1)})
        assert finished.stderr == ""
        return {line.partition(",")[2] for line in finished.stdout.splitlines()}

    assert complete("isofold", "e") == {"embed", "evaluate"}
    assert complete("isofold", "embed", "--method", "local") == {"local-mds"}
    assert "--max-seconds" in complete("isofold", "embed", "--m")


def test_help_is_the_same_as_a_module():
    # Click's runner pretends that a terminal has 80 columns beside its margin.
    finished = run_program("--help", env={"COLUMNS": "82"})
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout == run("--help").stdout
