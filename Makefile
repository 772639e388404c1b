# Short names for what CMake does. `make help` lists them.
#
# PRESET is one of those in CMakePresets.json: release (in build/), asan, tsan or clang (in
# build-<preset>/). So `make check PRESET=asan` runs every test under the sanitizers.

PRESET ?= release
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

BUILD = $(if $(filter release,$(PRESET)),build,build-$(PRESET))
NINJA = $(if $(shell command -v ninja 2>/dev/null),-G Ninja)
SOURCES = $(shell find include src tests bench -name '*.[ch]')

all: configure ## build the program build/rehearse and the libraries
	cmake --build $(BUILD) --parallel $(JOBS)

demo: all ## find the setting for a plant, from its log
	rm -rf $(BUILD)/plant.study
	$(BUILD)/rehearse tune examples/plant.yaml --output $(BUILD)/plant.study

check: all ## run every test
	ctest --preset $(PRESET) --parallel $(JOBS)

bench: all ## measure
	cmake --build $(BUILD) --target bench

install: all ## install below PREFIX (/usr/local), staged in DESTDIR
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

format: deps-lint ## format every source file
	clang-format -i $(SOURCES)

format-check: deps-lint ## fail when a source file is not formatted
	clang-format --dry-run -Werror $(SOURCES)

# Uninitialised variables are left to compilers and sanitizers, which know what calls do.
lint: deps-lint configure ## clang-tidy, cppcheck and who includes whom
	scripts/check-includes
	cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
		--suppress=uninitvar -DRH_ISA=baseline -Iinclude -Isrc -j $(JOBS) src bench
	printf '%s\n' $(filter src/%.c,$(SOURCES)) | \
		xargs -n 1 -P $(JOBS) clang-tidy -p $(BUILD) --quiet

fuzz: PRESET = fuzz
fuzz: deps-lint configure ## a short, repeatable run of each fuzz target
	cmake --build $(BUILD) --target fuzz

clean: ## remove what was built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

deps:
	@scripts/deps

deps-lint:
	@scripts/deps lint

# Only once: CMake reconfigures by itself when its files change.
configure: deps
	@test -f $(BUILD)/build.ninja -o -f $(BUILD)/Makefile || cmake --preset $(PRESET) $(NINJA)

# What runs in parallel is inside: two recipes at once would install or configure twice.
.NOTPARALLEL:
.PHONY: all demo check bench install format format-check lint fuzz clean help deps deps-lint \
	configure
