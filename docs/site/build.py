"""Build the site of the documentation: make site.

    python build.py --bench ../../bin/bench --out ../../site [--results ../../results/quick]

The pages are those of docs, in the order of docs/index.md. Added are what is made of the program: the pages of all
commands, of the Go packages and of the Python modules, the library's table, and the report of a result directory where
there is one. A link to a page or a heading that does not exist ends the build.
"""

import argparse
import ast
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def said(*command: str) -> str:
    """What a command of the repository prints."""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def sections(index: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The paragraphs of docs/index.md that begin with a bold title, each with its links: text and page."""
    found = []
    for paragraph in index.split("\n\n"):
        title = re.match(r"\*\*(.+?)\*\*", paragraph)
        if title:
            links = re.findall(r"\[([^\]]+)\]\(([^)#]+\.md)\)", paragraph)
            found.append((title[1], [(text, "contributing.md" if page == "../CONTRIBUTING.md" else page) for text, page in links]))
    return found


def navigation(groups: list[tuple[str, list[tuple[str, str]]]], made: list[tuple[str, str]]) -> str:
    """The menu as YAML: the groups of the index, and then what is made of the program."""
    lines = ["nav:", "  - Home: index.md"]
    for title, pages in [*groups, ("Reference", made)]:
        lines.append(f"  - {title.capitalize()}:")
        lines += [f"    - {text[:1].upper() + text[1:]!s}: {page}" for text, page in pages]
    return "\n".join(lines) + "\n"


def command_page(bench: str) -> str:
    """What every command says of itself."""
    with tempfile.TemporaryDirectory() as folder:
        said(bench, "man", folder)
        names = sorted(p.stem for p in Path(folder).iterdir())
    text = ["# Commands", "", "What `bench COMMAND --help` prints. `make install` installs the same as manual pages.", ""]
    for name in names:
        if name.startswith("bench-completion"):
            continue
        words = name.split("-") if name != "bench" else ["bench"]
        text += [f"## {' '.join(words)}", "", "```text", said(bench, *words[1:], "--help").rstrip(), "```", ""]
    return "\n".join(text)


def go_page(package: str) -> str:
    """`go doc -all` of a package as Markdown: declarations as code, what is said of them as text."""
    out, code = [f"# {package}", ""], []

    def close() -> None:
        while code and not code[-1].strip():
            code.pop()
        if code:
            out.extend(["", "```go", *code, "```", ""])
        code.clear()

    lines = said("go", "doc", "-all", f"./{package}").splitlines()
    declared = False
    for line in lines[1:]:
        if re.fullmatch(r"(CONSTANTS|VARIABLES|FUNCTIONS|TYPES)", line):
            close()
            out.extend(["", f"## {line.capitalize()}"])
            declared = True
        elif not declared or line.startswith("    "):
            close()
            out.append(plain(line.removeprefix("    ") if declared else line))
        elif line or code:
            if re.match(r"(func|type) ", line):
                close()
                name = re.match(r"(?:func|type) (?:\(\w* ?\*?([\w\[\], ]+)\) )?(\w+)", line)
                out.extend(["", f"### {name[1] + '.' if name[1] else ''}{name[2]}"])
            code.append(line.replace("\t", "    "))
    close()
    return "\n".join(out) + "\n"


def plain(line: str) -> str:
    """A line of prose that Markdown leaves alone; what is indented further is code there too."""
    return line if line.startswith(("    ", "\t")) else re.sub(r"([*_<\[\]`])", r"\\\1", line)


def go_pages(to: Path) -> None:
    """A page for each package that is not internal, and the list of them."""
    listed = said("go", "list", "-f", "{{if .GoFiles}}{{.Dir}}\t{{.Doc}}\t{{.Name}}{{end}}", "./...").splitlines()
    rows = ["# Go packages", "", "The packages of the module, as `go doc -all` has them. [Architecture](../architecture.md) says what is where.", "", "| package | |", "|---|---|"]
    for line in listed:
        folder, doc, name = line.split("\t")
        package = os.path.relpath(folder, ROOT)
        if name == "main" or package.startswith("internal"):
            continue
        page = package.replace("/", "-") + ".md"
        (to / page).write_text(go_page(package))
        rows.append(f"| [{package}]({page}) | {plain(doc).replace('|', '/')} |")
    (to / "index.md").write_text("\n".join(rows) + "\n")


def python_page() -> str:
    """Every public class and function of the Python package, with its docstring."""
    text = ["# Python package", "", "`import yardstick`, and its modules. [A policy in Python](guides/policy-python.md) is the guide.", ""]
    for path in sorted((ROOT / "python/src/yardstick").glob("[a-z]*.py")):
        module = ast.parse(path.read_text())
        public = [n for n in module.body if isinstance(n, (ast.ClassDef, ast.FunctionDef)) and not n.name.startswith("_")]
        if not public:
            continue
        text += [f"## yardstick.{path.stem}", "", *documented(module)]
        for node in public:
            text += [f"### {node.name}", "", *signature(node), *documented(node)]
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and ast.get_docstring(method):
                        text += [f"#### {node.name}.{method.name}", "", *signature(method), *documented(method)]
    return "\n".join(text) + "\n"


def signature(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    """The line that defines it."""
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(b) for b in node.bases)
        return ["```python", f"class {node.name}({bases})" if bases else f"class {node.name}", "```", ""]
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return ["```python", f"{node.name}({ast.unparse(node.args)}){returns}", "```", ""]


def documented(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> list[str]:
    """A docstring, with its examples as code."""
    lines, code = [], False
    for line in (ast.get_docstring(node) or "").splitlines():
        if line.startswith(">>>") and not code:
            lines += ["", "```pycon"]
            code = True
        elif code and not line.strip():
            lines.append("```")
            code = False
        lines.append(line if code else plain(line))
    return [*lines, *(["```"] if code else []), ""]


def library_page() -> str:
    """The library's table, which bench library check holds against its files."""
    with open(ROOT / "library/table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    text = ["# Best known values", "", f"The {len(rows)} instances of the [library](library.md), each with the best schedule and the best bound known; the table is made by verifying every file.", ""]
    for model in sorted({r["model"] for r in rows}):
        text += [f"## {model.capitalize()}", "", "| instance | objective | jobs | GPUs | best cost | of | bound | of | gap | status |", "|---|---|---:|---:|---:|---|---:|---|---:|---|"]
        for r in (r for r in rows if r["model"] == model):
            gap = f"{100 * float(r['gap']):.2f} %" if r["gap"] else ""
            values = [r["instance"], r["objective"], r["jobs"], r["gpus"], number(r["cost"]), r["schedule_by"], number(r["lower_bound"]), r["lower_bound_by"], gap, r["status"]]
            text.append(f"| {' | '.join(values)} |")
        text.append("")
    return "\n".join(text) + "\n"


def number(text: str) -> str:
    return f"{float(text):,.6g}" if text else ""


def gather(bench: str, results: Path, to: Path) -> None:
    """Copy the pages of docs and write those that are made."""
    shutil.copytree(ROOT / "docs", to, ignore=shutil.ignore_patterns("site", "__pycache__"))
    outside = (ROOT / "CONTRIBUTING.md").read_text()
    (to / "contributing.md").write_text(re.sub(r"\]\(docs/", "](", outside))
    for page in [to / "index.md", *to.rglob("*.md")]:
        text = page.read_text()
        # A block's first line says to a test what it is for; a highlighter knows its language alone.
        text = re.sub(r"^```(\w+) (?:run|expect|new=|insert=|skip).*$", r"```\1", text, flags=re.M)
        page.write_text(text.replace("](../CONTRIBUTING.md)", "](contributing.md)"))
    shutil.copy(ROOT / "docs/site/extra.css", to)
    shutil.copy(ROOT / "docs/site/iframe-worker.js", to)
    made = [("commands", "commands.md"), ("Go packages", "go/index.md"), ("Python package", "python.md"), ("best known values", "best-known.md")]
    (to / "commands.md").write_text(command_page(bench))
    (to / "go").mkdir()
    go_pages(to / "go")
    (to / "python.md").write_text(python_page())
    (to / "best-known.md").write_text(library_page())
    if (results / "report.html").exists():
        shutil.copy(results / "report.html", to / "report-quick.html")
        (to / "live.md").write_text(f"# A report\n\n[The report of the default suite](report-quick.html), as `bench run` wrote it: one file without network.\n\n{table(bench, results)}")
        made.append(("a report", "live.md"))
    config = (ROOT / "docs/site/mkdocs.yml").read_text()
    (to.parent / "mkdocs.yml").write_text(config + navigation(sections((ROOT / "docs/index.md").read_text()), made))


def table(bench: str, results: Path) -> str:
    return "Its tables:\n\n```text\n" + said(bench, "report", str(results)).rstrip() + "\n```\n"


def keep_home(page: Path, top: Path) -> None:
    """Take the one script that the theme fetches from elsewhere from the site itself. Errors: SystemExit if the page
    still loads anything from the network."""
    text = page.read_text()
    shim = os.path.relpath(top / "iframe-worker.js", page.parent)
    text = text.replace('src="https://unpkg.com/iframe-worker/shim"', f'src="{shim}"')
    calls = re.findall(r"""(?:<(?:script|img|iframe)[^>]*\bsrc|<link[^>]*\bhref)=["']?(?:https?:)?//[^"' >]+""", text)
    if calls:
        sys.exit(f"site: {page} loads {calls[0]}: the site must need no network")
    page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=str(ROOT / "bin/bench"), help="the program (default: bin/bench)")
    parser.add_argument("--results", type=Path, default=ROOT / "results/quick", help="whose report to show, if it is there (default: results/quick)")
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="where the site goes (default: site)")
    arguments = parser.parse_args()
    if not Path(arguments.bench).is_file():
        sys.exit(f"site: {arguments.bench} is no program: make build")
    with tempfile.TemporaryDirectory() as work:
        gather(os.path.abspath(arguments.bench), arguments.results.resolve(), Path(work) / "docs")
        done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-f", f"{work}/mkdocs.yml", "-d", str(arguments.out.resolve())], env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
        if done.returncode:
            sys.exit("site: mkdocs found what is named above")
    pages = list(arguments.out.rglob("*.html"))
    for page in pages:
        keep_home(page, arguments.out)
    print(f"site: {len(pages)} pages: open {arguments.out / 'index.html'}")


if __name__ == "__main__":
    main()
