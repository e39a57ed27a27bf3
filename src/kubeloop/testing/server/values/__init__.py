"""JSON values: reading them as Go's types do, and the field errors of those that do not fit."""
