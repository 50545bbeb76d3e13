"""The command `offrank`: its verbs, a file for each."""

from __future__ import annotations

import click

import offrank

from .check import check
from .clicks import clicks
from .compare import compare
from .convert import convert
from .demo import demo
from .evaluate import evaluate
from .inspect import inspect
from .learn import learn
from .measure import measure
from .reproduce import reproduce
from .select import select
from .simulate import simulate


class _Group(click.Group):
    """Remembers the words that it was called with, for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["offrank.words"] = list(args)
        return super().parse_args(ctx, args)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(offrank.__version__, prog_name="offrank")
def main() -> None:
    """What would a new ranking have earned, judged from the logs you already have?"""


main.add_command(inspect)
main.add_command(evaluate)
main.add_command(compare)
main.add_command(check)
main.add_command(measure)
main.add_command(convert)
main.add_command(learn)
main.add_command(demo)
main.add_command(reproduce)
main.add_command(clicks)
main.add_command(select)
main.add_command(simulate)
