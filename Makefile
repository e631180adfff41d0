# The two commands that matter:
#
#   make bench   install what is missing, build, run the main job, print the ratio table
#   make test    install what is missing, test every package
#
# Everything else: build, install, check, race, fuzz, attack, perf, golden, notebooks, golden-run,
# site, release, release-check, clean.

# `go build ./...` and `go test ./...` work without make where lp_solve is installed
# as on Debian, MacPorts or Homebrew; elsewhere LPSOLVE_INC is the folder of lp_lib.h.
export CGO_ENABLED := 1
ifdef LPSOLVE_INC
export CGO_CFLAGS := -O2 -g -I$(LPSOLVE_INC)
endif

# Packages that run goroutines or cgo beside each other.
CONCURRENT := ./bench/... ./solvers/lpsolve/... ./solvers/isolate/...

.PHONY: bench build install test check race fuzz attack perf golden notebooks golden-run site release release-check clean prepare prepare-test

bench: build
	bin/bench run

build: prepare
	go build -o bin/bench ./cmd/bench

# The program with its manual pages and completion: make install PREFIX=$HOME/.local
PREFIX ?= /usr/local
install:
	@[ -x bin/bench ] || { echo "bin/bench is not built: make build, then make install" >&2; exit 2; }
	internal/install.sh bin/bench "$(DESTDIR)$(PREFIX)"

# A share of what is long; all of it with YARDSTICK_TESTS=all, as in CI. GOGC: small
# heaps with much garbage are collected less often, which saves a fifth of the time.
# No vet: it takes a minute of a cold run, and check asks it for more.
test: prepare-test
	GOGC=400 go test -vet=off -timeout 30m ./...

check: prepare
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt wants: $$unformatted" >&2; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	@dead=$$(go tool deadcode ./cmd/bench && go tool deadcode -test ./...) || exit 1; \
	if [ -n "$$dead" ]; then printf 'no path leads here: reach it, move it to the tests or delete it\n%s\n' "$$dead" >&2; exit 1; fi
	go test -count=1 ./internal/lint

race: prepare-test
	go test -race -short -vet=off -timeout 30m $(CONCURRENT)

# Fuzzes every reader in turn; FUZZTIME=5m for a thorough run.
FUZZTIME ?= 30s
fuzz: prepare
	@grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\).*/\1/p' "$$file"); do \
			echo "$$name in $$file"; \
			go test "$$(dirname "$$file")" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
		done; \
	done

# Attacks the command as a whole: damaged inputs for every reader, kills of every long
# command, full disks, low limits. An hour; docs/reliability.md has its figures.
INPUTS ?= 20000
KILLS ?= 200
SEED ?= 1
attack: prepare-test
	go test ./internal/attack -count=1 -v -timeout 6h -inputs $(INPUTS) -kills $(KILLS) -seed $(SEED)

# What whole commands take, as a table; PERF="--full" for the sizes of docs/performance.md.
PERF ?=
perf: build
	python3 docs/examples/perf.py $(PERF)

# Rewrites every golden file from what the code does now: read the diff.
golden: prepare-test
	go test ./bench/record ./bench/report ./datasets ./datasets/instances ./datasets/generate ./datasets/throughput ./solvers/milp -update

# Runs the notebooks on a result directory, or a folder of several, and keeps
# them with their figures in notebooks/out: make notebooks DIR=results/quick
DIR ?= notebooks/golden
notebooks:
	@internal/prepare.sh notebooks
	@[ ! -x bin/bench ] || export YARDSTICK_BENCH="$$PWD/bin/bench"; .venv/bin/python notebooks/execute.py --results $(DIR)

# Makes the small results that the notebooks show and their tests read again.
golden-run: build
	@for name in gang models; do \
		bin/bench run notebooks/golden/$$name.yaml -o results/golden/$$name --force -q >/dev/null || exit 1; \
	done
	bin/bench place --profile builtin:v100/vgg19 --gpus 16 --cluster 250x8 --fragmentations 3 \
		--methods heavy-edge,chain,min-cut,min-alpha -o results/golden/placing -q >/dev/null
	@for name in gang models placing; do \
		rm -rf notebooks/golden/$$name && mkdir notebooks/golden/$$name && \
		cp results/golden/$$name/*.arrow results/golden/$$name/manifest.json notebooks/golden/$$name/ || exit 1; \
	done
	du -ch notebooks/golden/*/* | tail -n 1

# The documentation as a static site, in site: open site/index.html. It shows the
# report of results/quick, where make bench has run.
site: build
	@internal/prepare.sh site
	.cache/site/bin/python docs/site/build.py

# What is committed, as files to hand out, in dist: docs/releases.md. ARCH=arm64 where
# Debian's cross compiler is. release-check builds twice, and compares the bytes.
ARCH ?=
release release-check:
	@internal/prepare.sh release
	python3 internal/release/release.py $(if $(ARCH),--arch $(ARCH)) $(if $(filter release-check,$@),--check)

clean:
	rm -rf bin dist site results .venv .cache notebooks/out

prepare:
	@internal/prepare.sh build

prepare-test:
	@internal/prepare.sh test
