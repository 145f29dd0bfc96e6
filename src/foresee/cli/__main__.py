"""`python -m foresee.cli`."""

from foresee.cli.app import main

if __name__ == "__main__":
    main()
