# Short names for common CMake commands. `make help` lists them.
#
# PRESET is one of those in CMakePresets.json: release (in build/), asan, tsan or clang (in
# build-<preset>/). So `make check PRESET=asan` runs every test under the sanitizers.

PRESET ?= release
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

BUILD = $(if $(filter release,$(PRESET)),build,build-$(PRESET))
NINJA = $(if $(shell command -v ninja 2>/dev/null),-G Ninja)
SOURCES = $(shell find include src reproduction tests bench examples -name '*.[ch]')

program: configure ## build the program and its library: build/rehearse
	cmake --build $(BUILD) --parallel $(JOBS) --target rehearse

all: configure ## build everything: program, libraries and tests
	cmake --build $(BUILD) --parallel $(JOBS)

demo: configure ## learn from a plant's log, then ask the true plant
	cmake --build $(BUILD) --parallel $(JOBS) --target rehearse tank_truth
	@examples/tank/demo $(BUILD)

check: all ## run every test
	ctest --preset $(PRESET) --parallel $(JOBS)

tests: configure ## build the tests of MODULES only, such as "base log"
	cmake --build $(BUILD) --parallel $(JOBS) --target $(addprefix tests_,$(MODULES))

bench: configure ## measure speed
	cmake --build $(BUILD) --target bench

install: configure ## install below PREFIX (/usr/local), staged in DESTDIR
	cmake --build $(BUILD) --parallel $(JOBS) --target rh_installed
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

format: deps-lint ## format every source file
	clang-format -i $(SOURCES)

format-check: deps-lint ## fail when a source file is not formatted
	clang-format --dry-run -Werror $(SOURCES)

# cppcheck's uninitvar is off: it does not follow calls. Compilers and sanitizers check this.
# `make lint DEPTH=deep` lets clang's analyzer follow every path that it can: 4 times slower.
DEPTH ?= shallow
lint: deps-lint configure ## check includes, names, thresholds, words and documents; cppcheck, clang-tidy
	scripts/check-includes
	scripts/check-thresholds
	scripts/check-words
	scripts/check-docs
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
		--suppress=uninitvar -DRH_ISA=baseline -Iinclude -Isrc -Ireproduction -j $(JOBS) src bench \
		reproduction/offline reproduction/paper reproduction/program reproduction/bench
	printf '%s\n' $(filter src/%.c reproduction/%.c,$(filter-out reproduction/tests/% reproduction/bench/%,$(SOURCES))) | \
		xargs -n 1 -P $(JOBS) clang-tidy -p $(BUILD) --quiet --extra-arg=-Xclang \
		--extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=$(DEPTH)

fuzz: PRESET = fuzz
fuzz: deps-lint configure ## run each fuzz target briefly, with a fixed seed
	cmake --build $(BUILD) --parallel $(JOBS) --target fuzz

clean: ## remove all build folders
	rm -rf build build-*

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

deps:
	@scripts/deps

deps-lint:
	@scripts/deps lint

# Configure once; CMake reconfigures by itself when its files change.
configure: deps
	@test -f $(BUILD)/build.ninja -o -f $(BUILD)/Makefile || cmake --preset $(PRESET) $(NINJA)

# Each recipe runs its own parallel jobs; two recipes at once would configure or install twice.
.NOTPARALLEL:
.PHONY: all program demo check tests bench install format format-check lint fuzz clean help deps deps-lint \
	configure
