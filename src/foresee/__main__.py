"""`python -m foresee`."""

from foresee.cli import main

if __name__ == "__main__":
    main()
