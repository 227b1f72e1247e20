"""Maximum variance unfolding and its family."""
