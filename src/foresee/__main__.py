"""`python -m foresee`."""

from foresee.cli.entry import main

if __name__ == "__main__":
    main()
