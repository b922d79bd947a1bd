"""Run the command line as `python -m workbench`."""

from workbench.commands.main import main

if __name__ == "__main__":
    main()
