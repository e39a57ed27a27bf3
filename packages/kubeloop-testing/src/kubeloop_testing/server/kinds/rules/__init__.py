"""Rules that kinds of several groups share: names, values, pods, volumes, cells."""
