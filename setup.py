"""Build of the compiled kernels; everything else is in pyproject.toml."""

import os
import shutil

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import PlatformError

# Products and sums are rounded one by one, as written. A compiler that may fuse them would do so in
# one tile of a loop and not in another, and a row would depend on the rows beside it.
FLAGS = ["-O3", "-g0", "-ffp-contract=off"]

KERNELS = Extension(
    "*",
    ["src/isofold/**/*.pyx"],
    language="c++",
    include_dirs=["src/isofold"],
    depends=["src/isofold/_wide.h"],
    extra_compile_args=FLAGS,
)

NO_COMPILER = """\
the C++ compiler {compiler!r} was not found.

isofold has kernels in C++, which are compiled when it is installed. Install a compiler and run the
same command again:
    Debian, Ubuntu  apt-get install g++
    Fedora          dnf install gcc-c++
    macOS           xcode-select --install
    Windows         Build Tools for Visual Studio, with "Desktop development with C++"
    conda           conda install -c conda-forge cxx-compiler
If you have one, put it on the PATH, or name it in the environment variable CXX."""


class BuildKernels(build_ext):
    """The usual build, which says what is missing where there is no compiler."""

    def finalize_options(self):
        """Compile on all cores unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self):
        """Build all kernels."""
        # Only compilers of Unix have this; that of Windows names what is missing by itself.
        command = getattr(self.compiler, "compiler_so_cxx", None)
        if command and shutil.which(command[0]) is None:
            raise PlatformError(NO_COMPILER.format(compiler=command[0]))
        super().build_extensions()


setup(ext_modules=cythonize([KERNELS]), cmdclass={"build_ext": BuildKernels})
