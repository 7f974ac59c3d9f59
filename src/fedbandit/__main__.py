"""`python -m fedbandit`: the command line, where the program itself is not on the path."""

from fedbandit.cli import main

if __name__ == "__main__":
    main()
