"""Dense primal-dual interior point for equalities, hard or soft."""
