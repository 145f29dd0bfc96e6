"""Which code made a number: a digest of a module and of everything of its own package that it imports.

A score that was computed once is good as long as its formula is. The version of the package says that for releases; while
a formula is being worked on, its source has to. So a change to one proxy makes that proxy's scores stale and no others, and
a change to the probe makes all of them stale.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from foresee.data.base import digest


@cache
def code(module: str) -> str:
    """Digest of the sources of a module and, through its imports, of the other modules of its package.

    >>> code("foresee.proxies.counts") == code("foresee.proxies.gradients.zico")
    False
    """
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file(name)
        if name in sources or file is None:
            continue
        sources[name] = file.read_bytes()
        waiting += [found for found in _imports(name, sources[name]) if found.split(".")[0] == module.split(".")[0]]
    return digest(*(part for name in sorted(sources) for part in (name, sources[name])))


def function_code(function: Callable[..., Any]) -> str:
    """Digest of the module a function is in; of the function alone where that is no file (a notebook)."""
    module = getattr(function, "__module__", "")
    if module != "__main__" and _file(module) is not None:
        return code(module)
    try:
        return digest(inspect.getsource(function))
    except (OSError, TypeError):
        compiled = getattr(function, "__code__", None)
        return digest(repr(function) if compiled is None else (compiled.co_code, repr(compiled.co_consts)))


def _file(module: str) -> Path | None:
    """The source file of a module; importing it is not needed, and a name that is no module has none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _imports(module: str, source: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            for alias in node.names:  # a module of a package, or something that the module itself holds
                inner = f"{base}.{alias.name}"
                yield inner if _file(inner) is not None else base


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    file = _file(module)
    package = module if file is not None and file.name == "__init__.py" else module.rpartition(".")[0]
    return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
