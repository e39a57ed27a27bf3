# Generated from the async classes by tools/generate_blocking.py. Do not edit.
