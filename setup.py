"""Build of the compiled kernels; everything else is in pyproject.toml."""

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Extension(
    "*", ["src/isofold/**/*.pyx"], language="c++", extra_compile_args=["-O3", "-g0"]
)

setup(ext_modules=cythonize([KERNELS]))
