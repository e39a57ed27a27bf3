"""What containers of the embedded server can do: commands, ports and files that tests register."""
