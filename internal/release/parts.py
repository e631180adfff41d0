"""Tests of release.py on a program that is a script; GO_PROGRAM is a program of Go's."""

import email
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import release

EPOCH = 1_700_000_000
PROGRAM = """#!/bin/sh
case "$1" in
man) mkdir -p "$2" && echo .TH >"$2/bench.1" && echo .TH >"$2/bench-run.1" ;;
completion) echo "complete for $2" ;;
*) echo "bench says $*" ;;
esac
"""


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.arch = release.said("go", "env", "GOHOSTARCH")

    def made(self, name):
        """A program and what is installed, in a folder of that name."""
        work = self.folder / name
        work.mkdir()
        program = work / "bench"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        usr = work / "yardstick-1.0"
        release.layout(release.ROOT, program, self.arch, usr, "notices\n", EPOCH)
        return work, program, usr

    def test_layout(self):
        _, _, usr = self.made("one")
        files = {str(p.relative_to(usr)) for p in usr.rglob("*") if p.is_file()}
        for wanted in ("bin/bench", "share/man/man1/bench-run.1.gz", "share/bash-completion/completions/bench", "share/zsh/site-functions/_bench",
                       "share/fish/vendor_completions.d/bench.fish", "share/doc/yardstick/copyright", "share/doc/yardstick/LICENSE"):  # fmt: skip
            self.assertIn(wanted, files)

    def test_same_bytes_in_two_folders(self):
        sums = []
        for name in ("here", "elsewhere"):
            work, program, usr = self.made(name)
            release.archive(usr, work / "a.tar.gz", EPOCH)
            release.debian(usr, "1.0", self.arch, work / "a.deb", work, EPOCH)
            wheel = release.wheel(release.ROOT, program, "1.0", "manylinux_2_17_x86_64", "notices\n", work, EPOCH)
            sums.append([digest(p) for p in (work / "a.tar.gz", work / "a.deb", wheel)])
            time.sleep(1.1)  # files would have another second
        self.assertEqual(*sums)
        with tarfile.open(work / "a.tar.gz") as tar:
            members = tar.getmembers()
        self.assertEqual({(m.uid, m.uname, m.mtime) for m in members}, {(0, "", EPOCH)})
        self.assertIn("yardstick-1.0/bin/bench", [m.name for m in members if m.mode == 0o755])
        control = release.said("dpkg-deb", "--field", str(work / "a.deb"))
        self.assertIn("Package: yardstick\nVersion: 1.0\n", control)
        self.assertNotIn("Depends:", control)
        contents = release.said("dpkg-deb", "--contents", str(work / "a.deb"))
        self.assertIn("./usr/share/zsh/vendor-completions/_bench", contents)
        self.assertRegex(contents, r"-rwxr-xr-x root/root +\d+ 2023-11-14 .* \./usr/bin/bench\n")

    def test_wheel_installs_and_finds_its_program(self):
        work, program, _ = self.made("one")
        wheel = release.wheel(release.ROOT, program, "1.0+git20260101.abc", "manylinux_2_17_x86_64.musllinux_1_1_x86_64", "notices\n", work, EPOCH)
        env = self.folder / "env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(env)], check=True)
        python = env / "bin/python"
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install", "-q", "--no-index"]
        subprocess.run([*pip, str(wheel)], check=True)
        probe = "import yardstick.program as p, importlib.metadata as m; print(p.find_bench(), m.version('yardstick')); print(p.call(['version']).stdout)"
        clean = {"PATH": "/usr/bin:/bin"}
        out = subprocess.run([python, "-c", probe], check=True, capture_output=True, text=True, env=clean, cwd=self.folder).stdout
        self.assertEqual(out.split("\n")[:2], [f"{env / 'bin/bench'} 1.0+git20260101.abc", "bench says version"])

    def test_metadata_is_that_of_setuptools(self):
        code = "import setuptools.build_meta as b, sys; print(b.prepare_metadata_for_build_wheel(sys.argv[1]))"
        tree = self.folder / "python"
        subprocess.run(["cp", "-r", str(release.ROOT / "python"), str(tree)], check=True)
        name = subprocess.run([sys.executable, "-c", code, str(self.folder)], cwd=tree, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
        theirs = email.message_from_string((self.folder / name / "METADATA").read_text())
        ours = email.message_from_string(release.metadata(release.ROOT, theirs["Version"]))
        for key in ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Description-Content-Type"):
            self.assertEqual(ours[key], theirs[key], key)
        for key in ("Requires-Dist", "Provides-Extra"):
            self.assertEqual(sorted(ours.get_all(key)), sorted(theirs.get_all(key)), key)
        self.assertEqual(ours.get_payload().strip(), theirs.get_payload().strip())

    def test_bill_names_every_module(self):
        program = Path(os.environ["GO_PROGRAM"])
        deps = release.modules(program)
        bill = json.loads(release.bill("bench", "1.0", [*deps, {"path": "example.org/a", "version": "v1.2.3", "sum": "h1:abc="}], {"libsuitesparse-dev": "1:5"}, "go1.26.1"))
        parts = {p["name"]: p for p in bill["components"]}
        self.assertEqual(len(parts), len(deps) + 3)
        self.assertEqual(parts["example.org/a"]["purl"], "pkg:golang/example.org/a@v1.2.3")
        self.assertEqual(parts["libsuitesparse-dev"]["version"], "1:5")
        self.assertEqual(parts["std"]["version"], "go1.26.1")

    def test_licences_of_every_module(self):
        deps = [{"path": "github.com/spf13/cobra"}, {"path": "github.com/draffensperger/golp"}]
        text = release.licences(release.ROOT, deps, [])
        for wanted in ("Go: LICENSE\n", "github.com/spf13/cobra: LICENSE.txt\n", "github.com/draffensperger/golp: LICENSE\n", "MIT License"):
            self.assertIn(wanted, text)

    def test_version(self):
        named = re.search(r'^version = "(.*)"', (release.ROOT / "python/pyproject.toml").read_text(), re.M)[1]
        self.assertEqual(release.version(release.ROOT, "0123456789abcdef", "2026-01-02", []), f"{named}+git20260102.0123456789ab")
        self.assertEqual(release.version(release.ROOT, "0123456789abcdef", "2026-01-02", [f"v{named}"]), named)

    def test_sums_keep_what_is_still_there(self):
        (self.folder / "a").write_text("a")
        (self.folder / "SHA256SUMS").write_text("0  gone\n1  a\n")
        (self.folder / "b").write_text("b")
        release.checksums(self.folder, [self.folder / "b"])
        self.assertEqual((self.folder / "SHA256SUMS").read_text(), f"1  a\n{digest(self.folder / 'b')}  b\n")


if __name__ == "__main__":
    unittest.main()
