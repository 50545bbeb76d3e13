"""`python -m offrank`."""

from .cli import main

main(prog_name="offrank")
