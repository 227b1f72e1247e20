"""Build of the compiled kernels; everything else is in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup

# Products and sums are rounded one by one, as written. A compiler that may fuse them would do so in
# one tile of a loop and not in another, and a row would depend on the rows beside it.
FLAGS = ["-O3", "-g0", "-ffp-contract=off"]

KERNELS = Extension("*", ["src/isofold/**/*.pyx"], language="c++", extra_compile_args=FLAGS)

setup(ext_modules=cythonize([KERNELS]))
