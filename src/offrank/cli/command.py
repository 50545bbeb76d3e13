"""The command `offrank`: its verbs, one file each."""

from __future__ import annotations

from typing import Any

import click

import offrank

from .clicks_evaluate import evaluate as clicks_evaluate
from .clicks_fit import fit as clicks_fit
from .clicks_harvest import harvest as clicks_harvest
from .clicks_judge import judge as clicks_judge
from .clicks_predict import predict as clicks_predict
from .convert import convert
from .demo import demo
from .doctor import doctor
from .estimators import estimators
from .extended import ExtendedGroup
from .inspect import inspect
from .layout import CommandGroup
from .learn import learn
from .merge import merge
from .policies import policies
from .protected import protected
from .questions import check, compare, evaluate, measure, select_estimators
from .running import safely
from .select_clicks import clicks as select_clicks
from .simulate import simulate
from .streams import ready


class _Group(ExtendedGroup):
    """Records the command line for the report, and shows an error of any verb as one message."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["offrank.words"] = list(args)
        return super().parse_args(ctx, args)

    def main(self, *given: Any, **known: Any) -> Any:
        ready()
        return safely(super().main)(*given, **known)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(offrank.__version__, prog_name="offrank")
def main() -> None:
    """What would a new ranking have earned, judged from the logs you already have?"""


@main.group(cls=CommandGroup)
def clicks() -> None:
    """Click models: how slates are clicked, learnt from a log."""


@main.group(cls=CommandGroup)
def select() -> None:
    """Which of several candidates to use."""


for _verb in (clicks_fit, clicks_evaluate, clicks_harvest, clicks_judge, clicks_predict):
    clicks.add_command(protected(_verb))
for _verb in (select_clicks, select_estimators):
    select.add_command(protected(_verb))
for _verb in (inspect, evaluate, compare, check, measure, merge, convert, learn, demo, simulate):
    main.add_command(protected(_verb))
for _verb in (doctor, estimators, policies):
    main.add_command(_verb)
