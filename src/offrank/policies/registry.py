"""The registry of policies: each has its own file, which registers its class.

A policy of your own is a class with the methods of `Policy` and the decorator `@POLICIES.register`; its `name` begins
its spelling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..language.registry import Registry

POLICIES: Registry[Callable[..., Any]] = Registry(str(__package__), "policy")
"""What makes the policies, by the names in their spelling."""
