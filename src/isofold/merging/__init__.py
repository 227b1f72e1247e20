"""PLML's walk: flat cells of the data, laid beside each other one by one."""
