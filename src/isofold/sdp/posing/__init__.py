"""Programs posed so that they are small and well scaled."""
