"""Command: ``python -m experiments.ipa_failures --draws 500 --seed 0 --out draws.csv``."""

from __future__ import annotations

from experiments.ipa_failures.run import main

if __name__ == "__main__":
    main()
