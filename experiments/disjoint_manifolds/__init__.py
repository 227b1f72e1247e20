"""Maximum variance unfolding on disjoint manifolds: tables 4.1 to 4.4 of Costa's thesis."""
