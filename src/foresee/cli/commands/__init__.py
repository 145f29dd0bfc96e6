"""One file per command: importing it registers it, so a new command is one new file."""
