# Two commands do everything: `make demo` shows the main job, `make test` proves it. The others are their parts.
# What a build folder was made with holds until another value is given: `make test` and `make install` after
# `make library CPU=v4 BUILD=x` need BUILD=x alone.

comma := ,
cached = $(shell sed -n 's/^$(1):[A-Z]*=//p' $(BUILD)/CMakeCache.txt 2>/dev/null)
ifdef BUILD
PROFILE ?= $(or $(call cached,QUARKSMITH_PROFILE),default)
else
PROFILE ?= default
BUILD = build$(if $(filter-out default,$(PROFILE)),-$(basename $(notdir $(PROFILE))))$(if $(CPU),-$(CPU))
endif
PREFIX ?= /usr/local
PYTHON := .venv/bin/python
RENDERED = $(if $(filter-out default,$(PROFILE)),$(BUILD)/generated,generated)

given = $(if $(filter undefined,$(origin $(1))),,-D$(2)="$(3)")
SETTINGS = -DQUARKSMITH_GENERATED=$(abspath $(RENDERED)) -DQUARKSMITH_PROFILE="$(PROFILE)" \
  $(call given,CPU,QUARKSMITH_CPU,$(CPU)) $(call given,CUDA,QUARKSMITH_CUDA,$(CUDA)) \
  $(call given,HIP,QUARKSMITH_HIP,$(HIP)) $(call given,CUDA_FLAGS,CMAKE_CUDA_FLAGS,$$CUDA_FLAGS) $(call given,SHARED,BUILD_SHARED_LIBS,$(SHARED)) \
  $(call given,DEVICES,QUARKSMITH_DEVICES,$(subst $(comma),;,$(DEVICES)))

# A new build folder has no tests; one that has them keeps them.
WITHOUT_TESTS = $(if $(call cached,QUARKSMITH_TESTS),,-DQUARKSMITH_TESTS=OFF)
# Without a GPU its kernels can only be compiled: tests alone take those that compile fast, unless good ones are there.
FOR_TESTS = $(if $(DEVICES),$(FOR_USE),$(shell [ -e $(BUILD)/bin/quarksmith ] || nvidia-smi >/dev/null 2>&1 || \
  echo -DQUARKSMITH_CUDA_FOR_TESTS=ON))
FOR_USE = -DQUARKSMITH_CUDA_FOR_TESTS=OFF
ANEW = $(and $(filter ON,$(call cached,QUARKSMITH_CUDA_FOR_TESTS)),$(filter-out %NOTFOUND,$(call \
  cached,CMAKE_CUDA_COMPILER)),$(filter-out OFF,$(or $(CUDA),$(call cached,QUARKSMITH_CUDA),AUTO)))

# xargs takes words apart as a shell does, with quotes, and runs nothing in them.
with = printf '%s\n' "$$$(1)" | xargs
configure = @$(call with,CMAKE_FLAGS) cmake -S . -B $(BUILD) -G Ninja $(SETTINGS) $(1) > $(BUILD)/configure.log \
  || { cat $(BUILD)/configure.log; exit 1; }

.PHONY: help demo test test-full check-hip setup generate library python wheel docs beside kernel kernel-tests tune contribute check format install dist bench fuzz clean

help:  ## this list
	@echo "Times are those of two cores; targets that compile take them the first time, and seconds when nothing has changed."; echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1#\2/p' Makefile | awk -F'#' '{ printf "%-17s %s\n", $$1, $$2 }'
	@echo; echo "Variables: PROFILE=dev|default|wide|full|FILE.toml  CPU=v3|v4|neon|...|all  CUDA=AUTO|ON|OFF  HIP=ON|OFF  BUILD=FOLDER"; \
	  echo "           PREFIX=FOLDER  DEVICES=nvidia_h200,...|none (GPUs whose tuned variants are built)  SHARED=ON|OFF (library)"; \
	  echo "           QUARKSMITH_DATA=FOLDER (reference data for the tests)  CMAKE_FLAGS=... (anything else)"

demo: setup  ## generate, build, thermalise a lattice, solve, plot: everything the project is for, in five minutes
	@tools/demo.sh $(BUILD)

test: setup generate  ## build everything and run all tests (half an hour)
	@tools/setup.sh tests
	$(call configure,-DQUARKSMITH_TESTS=ON $(FOR_TESTS))
	@grep '^-- Targets\|^-- CUDA' $(BUILD)/configure.log
	@cmake --build $(BUILD)
	@tools/test.sh $(BUILD)

test-full:  ## the same with every kernel of profile wide, in build-wide (an hour on two cores)
	@$(MAKE) --no-print-directory test PROFILE=wide

# For the architectures that the objects name; nothing is run.
check-hip: BUILD := build-hip
check-hip: setup  ## compile all kernels for AMD's GPUs, without one: registers, spills, LDS; link the library (minutes)
	@tools/setup.sh hip
	@$(MAKE) --no-print-directory library PROFILE=$(PROFILE) BUILD=$(BUILD) HIP=ON CUDA=OFF
	@$(PYTHON) runtime/targets/hip/code_objects.py $(BUILD)/hip --profile $(PROFILE)

setup:  ## install what the build needs (minutes, once)
	@tools/setup.sh

generate: setup  ## render the sources of PROFILE (default: into generated/; seconds)
	@mkdir -p $(BUILD)
	@$(PYTHON) -m generator generate --profile $(PROFILE) --out $(RENDERED) --tuned $(BUILD)/tuned

library: generate  ## build the library and the command into BUILD (minutes)
	@$(if $(ANEW),echo "library: the CUDA kernels in $(BUILD)/ were compiled for tests alone; they are compiled anew for use")
	$(call configure,$(if $(TESTS),-DQUARKSMITH_TESTS=$(TESTS:kernels=ON),$(WITHOUT_TESTS)) $(FOR_USE))
	@grep '^-- Targets\|^-- CUDA' $(BUILD)/configure.log
	@cmake --build $(BUILD) --target $(or $(if $(filter ON,$(TESTS)),all),quarksmith $(if \
	  $(filter kernels,$(TESTS)),quarksmith_kernel_tests,quarksmith_quda))

python: library  ## build the Python package from the same objects, and install it into .venv (minutes)
	@$(PYTHON) -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall . \
	  --config-settings=cmake.define.QUARKSMITH_BUILD=$(abspath $(BUILD))
	@echo "the package is in .venv: $(PYTHON) -c 'import quarksmith'; docs/python.md"

# For all processors of an architecture; MPI and GPUs take a build on the machine that has them.
wheel: BUILD := build-wheel
wheel: setup  ## a wheel for machines without compilers, in build-wheel/wheel, tried as there (minutes)
	@CMAKE_FLAGS="-DQUARKSMITH_MPI=OFF $$CMAKE_FLAGS" $(MAKE) --no-print-directory library PROFILE=$(PROFILE) BUILD=$(BUILD) \
	  CPU=$(or $(CPU),all) CUDA=OFF
	@tools/wheel.sh $(BUILD)

docs: setup  ## these pages and the API as a site, in build/site (minutes)
	@tools/setup.sh docs
	@mkdir -p build && doxygen tools/site/Doxyfile
	@tools/site/notebooks.sh $(BUILD)
	@PYTHONPATH=$(abspath $(BUILD))/python $(PYTHON) -m mkdocs build > build/docs.log 2>&1 || { cat build/docs.log; exit 1; }
	@echo "the site is in build/site: open build/site/index.html"

beside: setup  # profile BESIDE within BUILD, from the same host objects; its command: BUILD/BESIDE/bin/quarksmith
	@mkdir -p $(BUILD)
	@$(PYTHON) -m generator generate --profile $(BESIDE) --out $(BUILD)/$(BESIDE)/generated
	$(call configure,-DQUARKSMITH_BESIDE=$(BESIDE) $(WITHOUT_TESTS))
	@cmake --build $(BUILD) --target quarksmith-$(BESIDE)

kernel: setup  ## compile and test any kernel of PROFILE=full: make kernel NAME=wilson_quarter_r8_dr_n2 (2 to 7 s)
	@ls $(BUILD)/bin/quarksmith_*tests >/dev/null 2>&1 || $(MAKE) --no-print-directory kernel-tests
	@$(PYTHON) -m generator kernel "$$NAME" --build $(BUILD)

kernel-tests: setup  ## the library and those tests alone that kernels compiled later are compared by (minutes)
	@tools/setup.sh tests
	@$(MAKE) --no-print-directory library TESTS=kernels

tune: library  ## quick sweep on this machine, BUDGET=4m (and minutes of compiling); its results go into BUILD/tuned, and into the library
	@if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then device=cuda; else device=cpu; fi; \
	  $(PYTHON) -m generator sweep --quick --within $(or $(BUDGET),4m) --profile $(PROFILE) --device $$device --build $(BUILD) --out $(BUILD) $(if $(ONLY),--only $(ONLY))
	@$(MAKE) --no-print-directory library

contribute: setup  ## add what `make tune` found on this machine to generated/tuned, for the next commit (seconds)
	@$(PYTHON) -m generator contribute $(BUILD)/tuned

check: setup  ## format and lint of hand-written code, rules of the tree, generated/ up to date (minutes)
	@tools/check.sh

format: setup  ## format hand-written code (seconds)
	@tools/check.sh --fix

install: library  ## install library, headers, command and CMake package under PREFIX (as library)
	@cmake --install $(BUILD) --prefix $(PREFIX) > $(BUILD)/install.log || { cat $(BUILD)/install.log; exit 1; }
	@echo "installed under $(PREFIX); the files are listed in $(BUILD)/install_manifest.txt"

dist: setup  ## quarksmith-VERSION.tar.gz of the last commit with everything rendered, for machines without Python (minutes)
	@tools/dist.sh $(PYTHON)

bench: library  ## time the kernels of the build on this machine; table and plots go into BUILD (minutes)
	@$(call with,BENCH) $(BUILD)/bin/quarksmith bench --json $(BUILD)/bench.json --csv $(BUILD)/bench.csv --overwrite
	@$(PYTHON) tools/plots roofline $(BUILD)/bench.json --out $(BUILD)/roofline.png
	@for file in $(wildcard generated/tuned/*.json $(BUILD)/tuned/*.json); do \
	  $(PYTHON) tools/plots tuning $$file --out $(BUILD)/tuning_$$(basename $$file .json).png; done

fuzz: setup  ## read damaged files with sanitizers for an hour (FUZZ_SECONDS=3600), and kill runs at random moments
	@mkdir -p build-fuzz
	@cmake -S . -B build-fuzz -G Ninja -DQUARKSMITH_FUZZ=ON -DQUARKSMITH_CUDA=OFF -DQUARKSMITH_MPI=OFF \
	  > build-fuzz/configure.log || { cat build-fuzz/configure.log; exit 1; }
	@cmake --build build-fuzz
	@tools/fuzz.sh build-fuzz $(BUILD)

clean:  ## remove what was built (not .venv) (seconds)
	rm -rf build build-* demo

# Values go into shell commands: what a shell, or make, would take apart is refused. Those with words of their own reach
# commands through the environment, as make exports what it was given.
export NAME FUZZ_SECONDS
define newline


endef
of_shells := ; & | < > ` $$ ( ) \ \#
check = $(if $(filter command environment,$(firstword $(origin $(1)))),\
  $(foreach c,$(2),$(if $(findstring $(c),$(value $(1))),\
    $(error $(1)=$(value $(1)): $(c) has no place there; use a plain name)))\
  $(if $(findstring $(newline),$(value $(1))),$(error $(1) has several lines; use a plain name)))
$(call check,BENCH,$$)
$(call check,CMAKE_FLAGS,& | < > ` $$)
$(call check,CUDA_FLAGS,$(of_shells))
$(foreach v,NAME ONLY BUDGET PROFILE DEVICES BUILD BESIDE CPU CUDA HIP TESTS SHARED PREFIX FUZZ_SECONDS OVERWRITE PYTHON,\
  $(call check,$(v),$(of_shells) ' " * ? [)\
  $(if $(and $(filter-out ONLY,$(v)),$(filter command environment,$(firstword $(origin $(v)))),$(word 2,$(value $(v)))),\
    $(error $(v)=$(value $(v)): spaces have no place there)))
