"""`python -m foresee.cli`."""

from foresee.cli import main

if __name__ == "__main__":
    main()
