"""Make a release of what is committed: make release.

    python3 release.py --out dist                # for this machine's architecture
    python3 release.py --out dist --arch arm64   # where Debian's cross compiler and arm64 libraries are installed
    python3 release.py --check                   # two builds in two folders, the second with nothing compiled, compared

OUT then has the statically linked program in an archive, with manual pages, completion and licences; the
same as a .deb; a wheel of the Python package with the program inside; a bill of materials (CycloneDX);
and SHA256SUMS. Files carry the date of the commit, so that equal tools make equal bytes.
"""

import argparse
import base64
import csv
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# By Go's name of an architecture: the compiler, where Debian keeps its libraries, and the wheel's tags. A static
# program needs no C library, old or new: both tags are true of it.
ARCHITECTURES = {
    "amd64": ("x86_64-linux-gnu", "manylinux_2_17_x86_64.musllinux_1_1_x86_64"),
    "arm64": ("aarch64-linux-gnu", "manylinux_2_17_aarch64.musllinux_1_1_aarch64"),
}

# Debian's packages of what is linked in, whose licences and versions are handed on.
LINKED = {"liblpsolve55-dev": "LGPL-2.1-or-later", "libsuitesparse-dev": "BSD-3-Clause", "libc6-dev": "LGPL-2.1-or-later"}


def said(*command: str, **options) -> str:
    """What a command prints. Errors: SystemExit with its last line."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
        sys.exit(f"release: {' '.join(command[:3])} failed: {lines[-1]}")
    return done.stdout.strip()


def version(tree: Path, commit: str, date: str, tags: list[str]) -> str:
    """The package's version, with date and commit unless the commit has its tag."""
    named = tomllib.loads((tree / "python/pyproject.toml").read_text())["project"]["version"]
    return named if f"v{named}" in tags else f"{named}+git{date.replace('-', '')}.{commit[:12]}"


def build(tree: Path, arch: str, program: Path, cache: str = "") -> None:
    """Link the program with everything that it needs but the kernel. `cache` is an empty folder for what Go compiles,
    where nothing that was compiled before may be used."""
    prefix = ARCHITECTURES[arch][0]
    env = {
        **os.environ,
        "GOARCH": arch, "GOFLAGS": "", "CGO_ENABLED": "1", "CC": f"{prefix}-gcc",
        "CGO_CFLAGS": "-O2 -g0 -I/usr/include/lpsolve",
    }  # fmt: skip
    if cache:
        env["GOCACHE"] = cache
    link = '-s -w -linkmode external -extldflags "-static -lsuitesparseconfig -Wl,--build-id=none"'
    said("go", "build", "-trimpath", "-buildvcs=true", "-tags", "osusergo,netgo", "-ldflags", link, "-o", str(program), "./cmd/bench", cwd=tree, env=env)


def modules(program: Path) -> list[dict[str, str]]:
    """The Go modules in a program, as `go version -m` lists them: path, version, sum."""
    found = []
    for line in said("go", "version", "-m", str(program)).splitlines():
        words = line.split()
        if words[:1] == ["dep"]:
            found.append({"path": words[1], "version": words[2], "sum": words[3] if len(words) > 3 else ""})
    return found


def linked(arch: str) -> dict[str, str]:
    """The versions of the C libraries that are linked in, by Debian's package."""
    return {name: said("dpkg-query", "-W", "-f", "${Version}", f"{name}:{arch}") for name in LINKED}


def bill(name: str, of: str, deps: list[dict[str, str]], libraries: dict[str, str], go: str) -> str:
    """The bill of materials, in CycloneDX 1.5: what the program consists of."""
    parts = [{"type": "library", "name": "std", "version": go, "purl": f"pkg:golang/std@{go.removeprefix('go')}", "licenses": [{"license": {"id": "BSD-3-Clause"}}]}]
    for m in deps:
        part = {"type": "library", "name": m["path"], "version": m["version"], "purl": f"pkg:golang/{m['path']}@{m['version']}"}
        if m["sum"].startswith("h1:"):
            part["properties"] = [{"name": "go.sum", "value": m["sum"]}]
        parts.append(part)
    for package, v in libraries.items():
        parts.append({"type": "library", "name": package, "version": v, "purl": f"pkg:deb/debian/{package}@{v}", "licenses": [{"license": {"id": LINKED[package]}}]})
    about = {"component": {"type": "application", "name": name, "version": of, "licenses": [{"license": {"id": "Apache-2.0"}}]}}
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": about, "components": parts}, indent=1) + "\n"


def licences(tree: Path, deps: list[dict[str, str]], libraries: Iterable[str]) -> str:
    """Our licence's companions: the texts of everything that is linked in."""
    texts = [
        "The program bench is under the Apache License 2.0 (LICENSE). Linked into it are the Go standard library, the modules and the libraries\n"
        "below, each under its own licence. lp_solve and the C library are under the LGPL: whoever wants other versions of them links the program\n"
        "anew from its source, by `make release` on a machine that has these.\n"
    ]
    folders = dict(line.split(" ", 1) for line in said("go", "list", "-m", "-f", "{{if .Dir}}{{.Path}} {{.Dir}}{{end}}", "all", cwd=tree).splitlines())
    sources = [("Go", Path(said("go", "env", "GOROOT")))] + [(m["path"], Path(folders[m["path"]])) for m in deps]
    for name, folder in sources:
        for file in sorted(f for f in folder.iterdir() if re.match(r"(LICEN[CS]E|NOTICE|COPYING)", f.name, re.I) and f.is_file()):
            texts.append(f"{'=' * 78}\n{name}: {file.name}\n\n{file.read_text(errors='replace').rstrip()}\n")
    for package in libraries:
        texts.append(f"{'=' * 78}\n{package}\n\n{Path('/usr/share/doc', package, 'copyright').read_text(errors='replace').rstrip()}\n")
    return "\n".join(texts)


def layout(tree: Path, program: Path, arch: str, to: Path, notices: str, epoch: int) -> None:
    """Lay out what is installed below /usr: the program, its manual, completion and licences."""
    run = "" if arch == said("go", "env", "GOHOSTARCH") else f"qemu-{ARCHITECTURES[arch][0].split('-')[0]}-static"
    said(str(tree / "internal/install.sh"), str(program), str(to), env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "RUN": run})
    docs = to / "share/doc/yardstick"
    docs.mkdir(parents=True)
    shutil.copy(tree / "LICENSE", docs / "LICENSE")
    shutil.copy(tree / "CHANGELOG.md", docs / "CHANGELOG.md")
    (docs / "copyright").write_text(notices)
    for path in to.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path == to / "bin/bench" else 0o644)


def archive(folder: Path, to: Path, epoch: int) -> None:
    """Pack a folder as .tar.gz, in order of names, of nobody, at the commit's date."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = epoch
        return member

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in [folder, *sorted(folder.rglob("*"))]:
            tar.add(path, arcname=str(path.relative_to(folder.parent)), recursive=False, filter=plain)
    to.write_bytes(gzip.compress(packed.getvalue(), mtime=0))


def debian(usr: Path, of: str, arch: str, to: Path, work: Path, epoch: int) -> None:
    """Pack what is installed below /usr as a .deb, which depends on nothing."""
    root = work / "deb"
    shutil.copytree(usr, root / "usr")
    zsh = root / "usr/share/zsh"
    (zsh / "site-functions").rename(zsh / "vendor-completions")  # where Debian's zsh looks for what packages bring
    size = sum(f.stat().st_size for f in root.rglob("*") if f.is_file()) // 1024
    control = (
        f"Package: yardstick\nVersion: {of}\nArchitecture: {arch}\nMaintainer: The Yardstick authors\nInstalled-Size: {size}\n"
        "Section: science\nPriority: optional\nSuggests: python3\n"
        "Description: deep-learning job schedulers against proven optima\n"
        " The program bench builds scheduling instances from traces of GPU clusters, solves\n"
        " them exactly, replays them under policies, and checks every schedule.\n"
    )
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(control)
    for path in [root, *root.rglob("*")]:
        os.utime(path, (epoch, epoch))
    said("dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(to), env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)})


def metadata(tree: Path, of: str) -> str:
    """The wheel's METADATA, of pyproject.toml, with the release's version."""
    project = tomllib.loads((tree / "python/pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {of}", f"Summary: {project['description']}"]
    lines += [f"License-Expression: {project['license']}", f"Requires-Python: {project['requires-python']}"]
    lines += ["Description-Content-Type: text/markdown", "License-File: LICENSE", "License-File: copyright"]
    lines += [f"Requires-Dist: {d}" for d in project["dependencies"]]
    for extra, packages in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {p}; extra == "{extra}"' for p in packages)]
    return "\n".join(lines) + "\n\n" + (tree / "python/README.md").read_text()


def wheel(tree: Path, program: Path, of: str, platform: str, notices: str, folder: Path, epoch: int) -> Path:
    """Pack the Python package and the program, which pip then puts beside python."""
    name = f"yardstick-{of}"
    info = f"{name}.dist-info"
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.split("."))
    files = {f"yardstick/{p.relative_to(tree / 'python/src/yardstick')}": p.read_bytes() for p in sorted((tree / "python/src/yardstick").rglob("*")) if p.is_file() and "__pycache__" not in p.parts}
    files[f"{name}.data/scripts/bench"] = program.read_bytes()
    files[f"{info}/METADATA"] = metadata(tree, of).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: yardstick\nRoot-Is-Purelib: false\n{tags}".encode()
    files[f"{info}/licenses/LICENSE"] = (tree / "LICENSE").read_bytes()
    files[f"{info}/licenses/copyright"] = notices.encode()
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, data in files.items():
        rows.writerow([path, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    to = folder / f"{name}-py3-none-{platform}.whl"
    date = tuple(int(n) for n in said("date", "-u", "-d", f"@{epoch}", "+%Y %m %d %H %M %S").split())
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.endswith("/scripts/bench") else 0o100644) << 16
            packed.writestr(entry, data)
    return to


def checksums(out: Path, made: list[Path]) -> None:
    """Add files to SHA256SUMS, beside those of other architectures."""
    sums = out / "SHA256SUMS"
    known = {name: value for value, name in (l.split("  ") for l in sums.read_text().splitlines())} if sums.exists() else {}
    known |= {m.name: hashlib.sha256(m.read_bytes()).hexdigest() for m in made}
    sums.write_text("".join(f"{known[n]}  {n}\n" for n in sorted(known) if (out / n).exists()))


def release(arch: str, out: Path, work: Path, cache: str = "") -> None:
    """Build everything from a clone of the last commit in `work`."""
    tree = work / "yardstick"
    said("git", "clone", "--quiet", "--no-local", str(ROOT), str(tree))
    said("git", "checkout", "--quiet", "--detach", said("git", "rev-parse", "HEAD", cwd=ROOT), cwd=tree)
    commit, date, epoch = said("git", "log", "-1", "--format=%H %cs %ct", cwd=tree).split()
    tags = said("git", "tag", "--points-at", "HEAD", cwd=tree).split()
    of = version(tree, commit, date, tags)
    out.mkdir(parents=True, exist_ok=True)
    program = work / "bench"
    print(f"release: building bench {of} for {arch}", flush=True)
    build(tree, arch, program, cache)
    deps = modules(program)
    libraries = linked(arch)
    notices = licences(tree, deps, libraries)
    usr = work / f"yardstick-{of}-linux-{arch}"
    layout(tree, program, arch, usr, notices, int(epoch))
    made = [out / f"{usr.name}.tar.gz", out / f"yardstick_{of}_{arch}.deb", out / f"{usr.name}.cdx.json"]
    archive(usr, made[0], int(epoch))
    debian(usr, of, arch, made[1], work, int(epoch))
    made[2].write_text(bill("bench", of, deps, libraries, said("go", "env", "GOVERSION")))
    made.append(wheel(tree, program, of, ARCHITECTURES[arch][1], notices, out, int(epoch)))
    checksums(out, made)
    for m in made:
        print(f"release: {m} ({m.stat().st_size / 1e6:.1f} MB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the files go (default: dist)")
    parser.add_argument("--arch", choices=ARCHITECTURES, default=said("go", "env", "GOARCH"), help="the architecture (default: this machine's)")
    parser.add_argument("--check", action="store_true", help="build twice in two folders and compare the bytes")
    arguments = parser.parse_args()
    sums = []
    for out in [Path("first"), Path("second")] if arguments.check else [arguments.out.resolve()]:
        with tempfile.TemporaryDirectory(prefix=f"release-{out.name}-") as work:
            place = Path(work) / out if arguments.check else out
            release(arguments.arch, place, Path(work), cache=str(Path(work) / "cache") if sums else "")
            sums.append((place / "SHA256SUMS").read_text())
    if arguments.check:
        if sums[0] != sums[1]:
            sys.exit(f"release: two builds in two folders differ:\n{sums[0]}\n{sums[1]}")
        print(f"release: two builds in two folders have the same bytes\n{sums[0]}", end="")


if __name__ == "__main__":
    main()
