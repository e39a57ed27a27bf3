"""State of a module, for tests of `fresh=`."""

starts: list[int] = []
