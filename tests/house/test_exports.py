"""What `__all__` promises is there, and nothing public hides beside it."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import offrank

PACKAGES = [info.name for info in pkgutil.walk_packages(offrank.__path__, prefix="offrank.") if info.ispkg]


def public_names(package: ModuleType) -> set[str]:
    """Names that a package's `__init__` binds, without its submodules and `from __future__` features."""
    return {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_what_a_package_offers(name: str) -> None:
    package = importlib.import_module(name)
    assert set(package.__all__) == public_names(package)
    assert len(package.__all__) == len(set(package.__all__))


@pytest.mark.parametrize("name", offrank.__all__)
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    value = getattr(offrank, name)
    assert value is getattr(offrank, name)
    assert value.__doc__, f"offrank.{name} has no docstring"


def test_dir_lists_the_public_names() -> None:
    assert set(offrank.__all__) <= set(dir(offrank))
    assert offrank.__all__ == sorted(offrank.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        offrank.nonsense  # noqa: B018
