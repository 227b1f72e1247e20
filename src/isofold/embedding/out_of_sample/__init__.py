"""New points for any embedding."""
