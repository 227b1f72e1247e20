"""What the command line says on the screen."""
