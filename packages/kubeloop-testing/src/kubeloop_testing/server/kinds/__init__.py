"""The built-in kinds, one module each, and the rules that they share.

Facts about a kind stand in its module, `<group>/<kind>.py`, as a `Kind`; a module beside it holds
what the kinds of a group share, `rules` what kinds of several groups share.
See also: `kind` (what a `Kind` says), `registry` (where a `Kind` is found), `strategies` (what is
done with it), `custom` (the `Kind` of a custom resource).
"""
