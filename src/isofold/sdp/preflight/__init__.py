"""Before any iteration: programs that are unbounded, contradictory or not strictly feasible."""
