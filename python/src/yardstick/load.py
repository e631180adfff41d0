"""Policies in files: find the one that a file defines, and serve it.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "mine.py")
...     with open(path, "w") as f:
...         _ = f.write("import yardstick\\nclass Mine(yardstick.Policy): ...\\n")
...     load(path).__name__
'Mine'
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

from .protocol import Decide, Policy, PolicyLike, serve

MODULE = "candidate"  # what a policy's file is imported as, so that what runs only as a script does not


def load(path: str, name: str = "") -> PolicyLike:
    """The policy that a file defines: what has the name, or else the one class that is
    derived from Policy, or else the function decide.

    Errors: TypeError if there is none or several; what importing the file raises."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.append(folder)  # what lies beside it
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise TypeError(f"{path} is no file of Python: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    if name:
        found: PolicyLike = getattr(module, name)
        return found
    classes = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, Policy) and v.__module__ == MODULE]
    leaves = [c for c in classes if not any(c in d.__mro__[1:] for d in classes)]  # those that no other is derived from
    if len(leaves) == 1:
        return leaves[0]
    if leaves:
        names = ", ".join(c.__name__ for c in leaves)
        raise TypeError(f"{path} defines the policies {names}: name one of them, or keep one in a file")
    decide: Decide | None = getattr(module, "decide", None)
    if callable(decide):
        return decide
    raise TypeError(f"{path} defines no policy: derive a class from yardstick.Policy, or write a function decide(view)")


def main(arguments: Sequence[str]) -> None:
    """Serve the policy in a file."""
    if not 1 <= len(arguments) <= 2:
        sys.exit("usage: python -m yardstick FILE.py [NAME]: serves the policy in a file on standard input and output")
    answers, sys.stdout = sys.stdout, sys.stderr  # what importing the file prints is no answer
    serve(load(*arguments), answers=answers)
