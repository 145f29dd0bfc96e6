"""`python -m foresee.cli`."""

from foresee.cli.entry import main

if __name__ == "__main__":
    main()
