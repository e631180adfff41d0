"""Run the notebooks on a result directory and keep them with their outputs.

    python execute.py                                   # the golden results
    python execute.py --results ../results/quick        # yours
    python execute.py 01_first_look.py --out /tmp/out   # one of them, elsewhere

For every NOTEBOOK.py it writes NOTEBOOK.ipynb and NOTEBOOK.html. Exits with 1 if
a notebook fails; the error is printed, and is in the rendered notebook too.
"""

import argparse
import asyncio
import html
import os
import re
import sys
import tempfile
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from traitlets.config import Config

HERE = Path(__file__).resolve().parent


def describe(notebook: nbformat.NotebookNode) -> None:
    """Give the figures of every cell a text for whoever cannot see them: the heading and what there is to see, of the
    text above."""
    heading, seen = "", ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = re.findall(r"^#+ (.+)$", cell.source, re.M)
            heading = found[-1] if found else heading
            what = re.search(r"\*\*What to see:\*\* (.+)", cell.source, re.S)
            seen = re.sub(r"[`*]", "", re.sub(r"\s+", " ", what[1])) if what else ""
        else:
            cell.metadata["alt"] = f"Figure: {heading.rstrip('?')}. {seen[:1].upper()}{seen[1:]}".strip()


def with_texts(page: str, notebook: nbformat.NotebookNode) -> str:
    """The page with these texts, which nbconvert leaves out, on its figures, in order."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                page = page.replace('alt="No description has been provided for this image"', f'alt="{html.escape(cell.metadata["alt"])}"', 1)
    return page


async def execute(path: Path, out: Path, results: Path, sockets: Path, turn: asyncio.Semaphore) -> str | None:
    """Run one notebook in a process of its own; return what went wrong, or None."""
    notebook = jupytext.read(path)
    describe(notebook)
    config = Config()
    if os.name == "posix":  # sockets in a private folder, no open ports
        config.KernelManager.update(transport="ipc", ip=str(sockets / path.stem[:2]))
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}, config=config)
    error = None
    async with turn:
        began = time.monotonic()
        try:
            await client.async_execute(env={**os.environ, "YARDSTICK_RESULTS": str(results), "PYTHONPATH": str(HERE.parent / "python" / "src")})
        except CellExecutionError as e:
            error = str(e)
        took = time.monotonic() - began
    nbformat.write(notebook, out / path.with_suffix(".ipynb").name)
    page, _ = HTMLExporter().from_notebook_node(notebook, {"metadata": {"name": path.stem}})
    (out / path.with_suffix(".html").name).write_text(with_texts(page, notebook), encoding="utf-8")
    print(f"{path.name}: {'failed' if error else 'done'} in {took:.1f} s", flush=True)
    return error


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="notebooks beside this file (default: all)")
    parser.add_argument("--results", default=HERE / "golden", type=Path, help="a result directory, or a folder of several")
    parser.add_argument("--out", default=HERE / "out", type=Path, help="where .ipynb and .html go")
    arguments = parser.parse_args()
    paths = [HERE / Path(n).name for n in arguments.notebooks] or sorted(HERE.glob("[0-9]*.py"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    turn = asyncio.Semaphore(os.cpu_count() or 1)
    results = arguments.results.resolve()
    with tempfile.TemporaryDirectory() as sockets:
        errors = await asyncio.gather(*(execute(p, arguments.out, results, Path(sockets), turn) for p in paths))
    for path, error in zip(paths, errors):
        if error:
            print(f"\n{path.name}:\n{error}", file=sys.stderr)
    print(f"notebooks with their outputs: {arguments.out}")
    return 1 if any(errors) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
