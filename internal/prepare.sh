#!/usr/bin/env bash
# Installs what the build ("build"), the tests ("test"), the notebooks alone
# ("notebooks"), the site ("site") or a release ("release") need and this machine lacks. Says what it does; does nothing,
# silently, where nothing is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=()
need() { # need FILE-OR-COMMAND PACKAGE...
	local what=$1
	shift
	if [[ $what == /* ]]; then [[ -e $what ]] && return 0; else command -v "$what" >/dev/null && return 0; fi
	packages+=("$@")
}

install_packages() {
	[[ ${#packages[@]} -eq 0 ]] && return 0
	local sudo=()
	if [[ $(id -u) -ne 0 ]]; then
		if ! command -v sudo >/dev/null; then
			echo "missing: ${packages[*]}. Neither root nor sudo is at hand: ask an administrator to run: apt-get install -y --no-install-recommends ${packages[*]}" >&2
			exit 1
		fi
		sudo=(sudo)
	fi
	if ! command -v apt-get >/dev/null; then
		echo "missing: ${packages[*]} (Debian's names). This machine has no apt-get: install lp_solve 5.5 with its headers and a C compiler, then set LPSOLVE_INC to the folder of lp_lib.h" >&2
		exit 1
	fi
	echo "installing with apt-get: ${packages[*]}"
	local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=180)
	"${apt[@]}" update >/dev/null || echo "apt-get update failed: going on with the package lists as they are" >&2
	local log
	log=$(mktemp)
	for _ in 1 2 3; do
		if "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1; then
			rm -f "$log"
			return 0
		fi
		sleep 2
	done
	tail -n 5 "$log" >&2
	echo "could not install ${packages[*]}: see above; install them by hand and run make again" >&2
	exit 1
}

# A Python environment of the repository's own, for the notebooks and for the
# tests that read the Arrow files with other people's readers, and of the package.
install_python() {
	local tests=bench/record/testdata/requirements.txt notebooks=notebooks/requirements.txt package=python/requirements.txt
	local stamp=.venv/requirements.sha256 sum
	sum=$(cat "$tests" "$notebooks" "$package" | sha256sum | cut -d' ' -f1)
	[[ -f $stamp && $(cat "$stamp") == "$sum" ]] && return 0
	echo "installing into .venv: $(cat "$tests" "$notebooks" "$package" | sed -n 's/^\([a-zA-Z][^=]*\)==.*/\1/p' | sort -u | wc -l) Python packages, some minutes the first time"
	python3 -m venv --clear .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$tests" -r "$notebooks" -r "$package"
	echo "$sum" >"$stamp"
}

# A Python environment of its own, for the site of the documentation.
install_site() {
	local wanted=docs/site/requirements.txt stamp=.cache/site/requirements.txt
	cmp -s "$wanted" "$stamp" && return 0
	echo "installing into .cache/site: $(grep -c == "$wanted") Python packages, once"
	python3 -m venv --clear .cache/site
	.cache/site/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "$wanted"
	cp "$wanted" "$stamp"
}

# VeriPB, which checks proofs (bounds/proof/veripb): built once, where its Find looks.
# The tests that run it are skipped without it, and fail in CI.
install_veripb() {
	local version=3.0.2
	local root=${XDG_CACHE_HOME:-$HOME/.cache}/yardstick/veripb-$version
	if command -v veripb >/dev/null || [[ -x $root/bin/veripb ]]; then return 0; fi
	# Debian 12's own cargo is too old; the one that its browsers are built with is not.
	if ! recent_cargo; then (packages=(cargo-web) && install_packages && recent_cargo) || return 1; fi
	echo "installing veripb $version with cargo: two minutes, once"
	cargo install veripb --version "$version" --locked --quiet --root "$root"
}

# axe-core, with which a test looks for what keeps people from using the HTML report: the
# script alone, out of a Python package that has it, kept where that test looks.
install_axe() {
	local root=${XDG_CACHE_HOME:-$HOME/.cache}/yardstick/axe-core-4.12.1 from
	if [[ -e $root/axe.min.js ]]; then return 0; fi
	echo "installing axe-core 4.12.1 with pip"
	from=$(mktemp -d)
	echo "axe-playwright-python==0.1.8 --hash=sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8" >"$from/requirements.txt"
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --target "$from/package" -r "$from/requirements.txt" &&
		mkdir -p "$root" && cp "$from/package/axe_playwright_python/axe.min.js" "$root"
	local failed=$?
	rm -rf "$from"
	return $failed
}

recent_cargo() { # Rust 1.84 or later
	[[ $(cargo --version 2>/dev/null) =~ ^cargo\ ([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] > 1 || BASH_REMATCH[2] >= 84))
}

need_python() {
	if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then packages+=(python3 python3-venv); fi
}

if [[ ${1:-build} == notebooks || ${1:-build} == site ]]; then
	need_python
	install_packages
	if [[ $1 == site ]]; then install_site; else install_python; fi
	exit 0
fi
command -v go >/dev/null || {
	echo "Go is not installed: get Go 1.26 or later, put it on PATH and run make again" >&2
	exit 1
}
need gcc gcc libc6-dev
need /usr/include/stdio.h libc6-dev
[[ -e ${LPSOLVE_INC:-/usr/include/lpsolve}/lp_lib.h ]] || need /usr/include/lpsolve/lp_lib.h liblpsolve55-dev
if [[ ${1:-build} == release ]]; then
	need git git
	need dpkg-deb dpkg
	need /usr/include/suitesparse/colamd.h libsuitesparse-dev # static, for lp_solve
	python3 -c 'import tomllib' 2>/dev/null || packages+=(python3) # 3.11, which Debian 12 has
fi
if [[ ${1:-build} == test ]]; then
	need git git
	need glpsol glpk-utils
	need cbc coinor-cbc
	need lp_solve lp-solve
	need /usr/sbin/slurmctld slurm-wlm
	need parallel parallel
	need pdflatex texlive-latex-base texlive-pictures
	need node nodejs
	need rustc rustc
	need_python
fi
install_packages
if [[ ${1:-build} == test ]]; then
	install_python
	install_veripb || echo "going on without veripb (cargo install veripb --version 3.0.2 --locked, Rust 1.84 or later): the tests that have it check proofs are skipped" >&2
	install_axe || echo "going on without axe-core: the test that looks for what keeps people from using the HTML report is skipped" >&2
	# The test that opens the HTML report in a browser is skipped without one.
	if ! command -v chromium >/dev/null; then
		(packages=(chromium) && install_packages) || echo "going on without chromium: the tests of the HTML report in a browser are skipped" >&2
	fi
fi
