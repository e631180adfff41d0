#!/usr/bin/env bash
# install.sh PROGRAM PREFIX: puts bench, its manual pages and its completion for bash,
# zsh and fish below PREFIX, where each looks for them. RUN is what starts a program of
# another architecture.
set -euo pipefail
[[ $# -eq 2 && -f $1 ]] || {
	echo "usage: install.sh PROGRAM PREFIX, and PROGRAM must be there: make build" >&2
	exit 2
}
program=$1 prefix=$2 run=${RUN:-}
install -D -m 755 "$program" "$prefix/bin/bench"
pages=$prefix/share/man/man1
$run "$program" man "$pages" >/dev/null
gzip -9nf "$pages"/bench*.1
complete() { # complete SHELL FILE
	mkdir -p "$(dirname "$prefix/share/$2")"
	$run "$program" completion "$1" >"$prefix/share/$2"
}
complete bash bash-completion/completions/bench
complete zsh zsh/site-functions/_bench
complete fish fish/vendor_completions.d/bench.fish
