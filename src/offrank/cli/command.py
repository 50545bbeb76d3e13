"""The command `offrank`: its verbs, a file for each group of them."""

from __future__ import annotations

import click

import offrank

from . import clicks, compare, judging, making, select, simulate


class _Group(click.Group):
    """Remembers the words that it was called with, for the report."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["offrank.words"] = list(args)
        return super().parse_args(ctx, args)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(offrank.__version__, prog_name="offrank")
def main() -> None:
    """What would a new ranking have earned, judged from the logs you already have?"""


main.add_command(judging.evaluate)
main.add_command(judging.check)
main.add_command(compare.compare)
main.add_command(judging.metrics)
main.add_command(making.convert)
main.add_command(making.learn)
main.add_command(making.demo)
main.add_command(making.reproduce)
main.add_command(clicks.clicks)
main.add_command(select.select)
main.add_command(simulate.simulate)
