"""From `module:function` or `path/to/file.py:function` to the function, and back."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import pkgutil
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from foresee.errors import InputError, UnknownNameError

#: files that are no modules are kept under this name and a digest of their path
FILE_MODULE = "foresee_file_"


def load_object(reference: str) -> Any:
    """The function or class behind `module:name` or `path/to/file.py:name`, which is run to find it.

    The current folder counts for modules, after all that is installed.

    >>> load_object("math:sqrt")(9.0)
    3.0
    """
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise InputError(f"reference {reference!r}: expected module:function or path/to/file.py:function")
    found: Any = _load_file(Path(place)) if place.endswith(".py") else _load_module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            public = [key for key in dir(found) if not key.startswith("_") and callable(getattr(found, key, None))]
            raise UnknownNameError(f"function of {place}", name, public)
        found = getattr(found, part)
    found = _undecorated(found)
    if not callable(found):
        raise InputError(f"{reference} is a {type(found).__name__}, expected a function or class")
    return found


def reference_to(function: Any) -> str:
    """Text from which `load_object` finds a function again; lambdas and local functions have none."""
    name = getattr(function, "__qualname__", repr(function))
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    main = module is not None and module.__name__ in ("__main__", "__mp_main__")
    file, spec = getattr(module, "__file__", None), getattr(module, "__spec__", None)
    if module is None or _undecorated(found) is not function or (main and file is None):
        raise InputError(f"own space over {name}: only a function at the top of a module or script can be found again")
    if main and spec is not None and spec.name not in ("__main__", "__mp_main__"):  # python -m package.module
        return f"{spec.name}:{name}"
    if main or module.__name__.startswith(FILE_MODULE):
        path, here = Path(str(file)).resolve(), Path.cwd()
        return f"{(path.relative_to(here) if path.is_relative_to(here) else path).as_posix()}:{name}"
    return f"{module.__name__}:{name}"


def _undecorated(found: Any) -> Any:
    """The function itself where its name stands for a space of it: `own` may be used as a decorator."""
    return found if callable(found) else getattr(found, "make_net", found)


def _load_module(name: str) -> ModuleType:
    _search_last(Path.cwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if not missing or not f"{name}.".startswith(f"{missing}."):
            raise InputError(f"module {name} cannot be imported: {one_line(error)}") from error
        parent, _, last = missing.rpartition(".")
        around = getattr(sys.modules.get(parent), "__path__", None)
        # A person's own modules lie in the current folder; what is merely installed here is no likely meaning.
        near = get_close_matches(last, [one.name for one in pkgutil.iter_modules(around or [str(Path.cwd())])], n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "it is neither installed nor in the current folder"
        raise InputError(f"no module {missing!r}: {hint}") from error


def _load_file(path: Path) -> ModuleType:
    if not path.is_file():
        near = get_close_matches(path.name, [one.name for one in path.parent.glob("*.py")], n=3)
        raise InputError(f"no file {path.as_posix()!r}" + (f": did you mean {', '.join(near)}?" if near else ""))
    path, main = path.resolve(), sys.modules["__main__"]
    if Path(getattr(main, "__file__", None) or "").resolve() == path:
        return main  # the script that runs now: running it again would start over
    name = FILE_MODULE + hashlib.blake2b(str(path).encode(), digest_size=8).hexdigest()
    if name not in sys.modules:
        spec: Any = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        _search_last(path.parent)  # its neighbours can be imported, but take nobody's place
        try:
            spec.loader.exec_module(sys.modules[name])
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise InputError(f"file {path.name} cannot be imported: {one_line(error)}") from error
    return sys.modules[name]


def _search_last(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def one_line(error: BaseException) -> str:
    """An error of a stranger's code, for a message of ours."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
