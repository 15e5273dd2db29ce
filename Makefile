# Two commands do everything: `make demo` shows the main job, `make test` proves it. The others are their parts.

PROFILE ?= default
CPU ?= v3
CUDA ?= AUTO
PREFIX ?= /usr/local
BUILD ?= build$(if $(filter-out default,$(PROFILE)),-$(basename $(notdir $(PROFILE))))$(if $(filter-out v3,$(CPU)),-$(CPU))
PYTHON := .venv/bin/python
DEVICES ?=
RENDERED := $(if $(DEVICES)$(filter-out default,$(PROFILE)),$(BUILD)/generated,generated)
TESTS ?= OFF
CUDA_FLAGS ?= $(CUDAFLAGS)
# Without a GPU its kernels can only be compiled: for tests without variants tuned for one, and as fast as that goes.
WITHOUT_GPU = $(if $(DEVICES),,$(shell nvidia-smi >/dev/null 2>&1 || { echo DEVICES=none; \
  nvcc --help 2>/dev/null | grep -q Ofast-compile && echo CUDA_FLAGS=--Ofast-compile=max; }))

.PHONY: help demo test setup generate library kernel tune check format install bench clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1#\2/p' Makefile | column -t -s '#'
	@echo; echo "Variables: PROFILE=dev|default|full|FILE.toml  CPU=v3|v4  CUDA=AUTO|ON|OFF  BUILD=FOLDER  PREFIX=FOLDER"; \
	  echo "           DEVICES=nvidia_h200,...|none (GPUs whose tuned variants are built)"

demo: setup  ## generate, build, thermalise a lattice, solve, plot: everything the project is for, in a few minutes
	@tools/demo.sh

test: setup generate  ## build everything and run all tests
	@$(MAKE) --no-print-directory library TESTS=ON $(WITHOUT_GPU)
	@tools/test.sh $(BUILD)

setup:  ## install what the build needs
	@tools/setup.sh

generate: setup  ## render the sources of PROFILE (default: into generated/)
	@mkdir -p $(BUILD)
	@$(PYTHON) -m generator generate --profile $(PROFILE) --out $(RENDERED) $(if $(DEVICES),--devices "$(DEVICES)")

library: generate  ## build the library and the command into BUILD
	@cmake -S . -B $(BUILD) -G Ninja -DQUARKSMITH_GENERATED=$(abspath $(RENDERED)) -DQUARKSMITH_CPU=x86-64-$(CPU) \
	  -DQUARKSMITH_CUDA=$(CUDA) -DCMAKE_CUDA_FLAGS="$(CUDA_FLAGS)" -DQUARKSMITH_TESTS=$(TESTS) -DQUARKSMITH_DATA=$(QUARKSMITH_DATA) > $(BUILD)/configure.log \
	  || { cat $(BUILD)/configure.log; exit 1; }
	@grep '^-- Targets' $(BUILD)/configure.log
	@cmake --build $(BUILD)

kernel: setup  ## compile and test any kernel of PROFILE=full: make kernel NAME=wilson_quarter_r8_dr_n2
	@test -x $(BUILD)/bin/quarksmith_tests || $(MAKE) --no-print-directory library TESTS=ON
	@$(PYTHON) -m generator kernel "$$NAME" --build $(BUILD)

tune: library  ## quick sweep on this machine, BUDGET=4m; its results go into generated/tuned and the next build
	@if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then device=cuda; else device=cpu; fi; \
	  $(PYTHON) -m generator sweep --quick --within $(or $(BUDGET),4m) --profile $(PROFILE) --device $$device --build $(BUILD) --out $(RENDERED) $(if $(ONLY),--only $(ONLY))
	@$(MAKE) --no-print-directory library

check: setup  ## format and lint of hand-written code, rules of the tree, generated/ up to date
	@tools/check.sh

format: setup  ## format hand-written code
	@tools/check.sh --fix

install: library  ## install library, headers, command and CMake package under PREFIX
	@cmake --install $(BUILD) --prefix $(PREFIX)

bench: library  ## time the kernels of the build on this machine; table and plots go into BUILD
	@$(BUILD)/bin/quarksmith bench --json $(BUILD)/bench.json --csv $(BUILD)/bench.csv $(BENCH)
	@$(PYTHON) tools/plot_roofline.py $(BUILD)/bench.json --out $(BUILD)/roofline.png
	@for file in $(wildcard generated/tuned/*.json $(filter-out generated/%,$(RENDERED)/tuned/*.json)); do \
	  $(PYTHON) tools/plot_tuning.py $$file --out $(BUILD)/tuning_$$(basename $$file .json).png; done

clean:  ## remove what was built (not .venv)
	rm -rf build build-* demo

# Values go into shell commands: what a shell would take apart is refused.
export NAME
define newline


endef
unsafe := ; & | < > ` $$ ( ) ' " \ $(newline)
$(foreach v,NAME ONLY BUDGET PROFILE DEVICES BUILD BESIDE CPU CUDA TESTS SHARED PREFIX,\
  $(if $(filter command environment,$(firstword $(origin $(v)))),\
    $(foreach c,$(unsafe),$(if $(findstring $(c),$(value $(v))),\
      $(error $(v)=$(value $(v)): $(c) has no place there; use a plain name)))\
    $(if $(findstring $(newline),$(value $(v))),$(error $(v) has several lines; use a plain name))))
