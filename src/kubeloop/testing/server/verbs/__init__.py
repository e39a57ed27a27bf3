"""What can be done with objects, decided in plain code."""
