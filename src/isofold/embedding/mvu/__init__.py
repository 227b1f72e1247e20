"""Maximum variance unfolding and its variants."""
