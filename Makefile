# make release  the stripped binary with its symbols beside it, in target/dist
# make demo     set up, build, and diagnose a slow client (needs root: it makes two network namespaces)
# make test-fast  style and the tests that take no root and no time
# make test     set up, check style, run every test but the long ones, and count what was skipped
# make stories  the whole casebook from end to end: named, located, confirmed, twins silent; and the long tests (needs root)
# make healthy  53 servers and tools as they are packaged, of which none may be accused (needs root; installs them)
# make bench    the recorder's overhead and the speed of diagnosis, into docs/benchmarks.md
# make calibrate  how often the statistics are wrong, on real timings of this machine, into docs/statistics.md; and how often the
#               prover is, with trials made up and with suspicions planted on real programs (an hour; WHYSLOW_PROOFS=20: minutes)
# make feeds    84,004 feeds on 19,166 names of our own: a first and a second round, one that is killed half-way, and curl over the
#               same list (some minutes; WHYSLOW_FEEDS='5000 1000': fewer feeds and names)
# make fuzz     a million inputs for each parser of what others wrote: by coverage where cargo-fuzz and a nightly compiler are
#               installed, else by chance (hours; scripts/fuzz.sh runs=1000000 elf: one of them)
# make soak     the fuzzers, and what makes a recorder's memory grow, for an hour (needs root; WHYSLOW_SOAK=120: two minutes)
# make deny     licences and sources of dependencies (needs cargo-deny)
# make docs     the documentation as a site, the manual and the completions, into target/site, target/man and
#               target/completions
# make clean    remove what was built
#
# One profile, --release, so that targets share one set of artifacts. Two have their own: make demo, which is quicker to build,
# and make release, which takes longer and is smaller.

# What the stories' Python programs run in: what a version manager's shim would start, since the shim takes several times as
# long to start as the interpreter.
PYTHON ?= python3
PYTHON := $(shell $(PYTHON) -c 'import sys; print(sys.executable)' 2>/dev/null || echo $(PYTHON))
export PYTHON
export PATH := $(if $(findstring /,$(PYTHON)),$(dir $(PYTHON)):)$(PATH)

# Where tests write down that they were skipped.
SKIPPED = $(CURDIR)/target/skipped

# Tests that need neither root nor time.
FAST = --skip stories:: --skip bisect:: --skip page:: --skip running:: --skip undo:: --skip exports:: --skip story:: \
    --skip schemas:: --skip attach_recording:: --skip doctor

.PHONY: all build release demo test test-fast stories feeds healthy bench calibrate fuzz soak deny docs clean

all: build

build:
	scripts/setup.sh build
	cargo build --release --locked

release:
	scripts/setup.sh build
	cargo build --profile dist --locked --package whyslow --config 'build.rustflags = ["-Clink-arg=-Wl,--icf=all"]'
	objcopy --only-keep-debug target/dist/whyslow target/dist/whyslow.debug
	objcopy --strip-all --add-gnu-debuglink=target/dist/whyslow.debug target/dist/whyslow

demo:
	scripts/setup.sh demo
	cargo build --profile quick --locked --package whyslow
	@if [ "$$(id -u)" != 0 ]; then \
	    echo "make demo: recording needs root. It is built; run:" >&2; \
	    echo "    sudo casebook/nagle/run.sh slow" >&2; \
	    exit 1; \
	fi
	@# Status 1 means that something was found, which here is how it should be.
	WHYSLOW=$(CURDIR)/target/quick/whyslow casebook/nagle/run.sh slow || [ $$? -eq 1 ]

test:
	scripts/setup.sh test
	cargo fmt --all --check
	@mkdir -p target && rm -f $(SKIPPED)
	WHYSLOW_SKIPPED=$(SKIPPED) scripts/tests.sh --workspace
	@scripts/skipped.sh $(SKIPPED)

# What needs root is left out, whoever asks.
test-fast:
	cargo fmt --all --check
	@mkdir -p target
	cargo test --release --locked --workspace --no-run 2>&1 | tee target/built.log
	scripts/warnings.sh target/built.log
	WHYSLOW_FAST=1 cargo test --release --locked --workspace --lib --bins
	WHYSLOW_FAST=1 cargo test --release --locked --package whyslow-fuzz
	WHYSLOW_FAST=1 cargo test --release --locked --package whyslow --test e2e -- $(FAST)

stories:
	scripts/setup.sh healthy
	cargo build --release --locked --package whyslow --package whyslow-farm
	rm -rf target/stories
	target/release/whyslow story run all -o target/stories
	@rm -f $(SKIPPED)
	WHYSLOW_SKIPPED=$(SKIPPED) WHYSLOW_STORIES=$(CURDIR)/target/stories \
	    cargo test --release --locked --package whyslow --test e2e -- --ignored --test-threads 1
	@scripts/skipped.sh $(SKIPPED)
	$(PYTHON) -B benches/nameless.py target/stories

feeds:
	scripts/setup.sh build
	cargo build --release --locked --package whyslow --package whyslow-farm
	scripts/feeds.sh target/release $(WHYSLOW_FEEDS)

healthy:
	scripts/setup.sh healthy
	cargo build --release --locked --package whyslow
	rm -rf target/healthy
	target/release/whyslow story run services -o target/healthy
	$(PYTHON) -B benches/nameless.py target/healthy

bench:
	scripts/setup.sh bench
	cargo build --release --locked --workspace --examples --bins
	$(PYTHON) -B benches/run.py

calibrate:
	scripts/setup.sh build
	cargo run --release --locked --package whyslow-stats --example calibrate -- docs/statistics.md
	cargo test --release --locked --workspace --lib -- --ignored --nocapture --test-threads 1 prove:: calibration::

fuzz:
	scripts/setup.sh build
	scripts/fuzz.sh runs=1000000

# Half of the time each.
SOAK_SECONDS = $(or $(WHYSLOW_SOAK),3600)
soak:
	scripts/setup.sh build
	cargo build --release --locked --package whyslow
	rm -rf target/soak
	scripts/fuzz.sh seconds=$$(($(SOAK_SECONDS) / 2))
	$(PYTHON) -B benches/soak.py target/release/whyslow $$(($(SOAK_SECONDS) / 2)) target/soak

deny:
	cargo deny --offline check bans licenses sources

docs:
	scripts/setup.sh build
	cargo build --release --locked --package whyslow --package xtask
	target/release/xtask docs target/site
	target/release/whyslow man -o target/man
	mkdir -p target/completions
	for shell in bash zsh fish; do target/release/whyslow completions $$shell >target/completions/whyslow.$$shell || exit; done

clean:
	cargo clean
