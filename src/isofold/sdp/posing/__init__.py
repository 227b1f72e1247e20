"""Ways to pose a program so that it is small and well scaled."""
