# ConvLab. Run `make` for the list of targets.

# ---- settings ----------------------------------------------------------------------------------
V       ?= 0#                 V=1 shows the commands
SAN     ?=#                   SAN=address,undefined builds with sanitizers, in a folder of its own
CC      := gcc
CFLAGS  ?= -O2 -g
LAB_CFLAGS ?= -O3 -march=native#  flags for students' C files and the references
SEED    ?=#                   make models SEED=N OUT=DIR: an instructor's private models
OUT     ?=

# ---- checkout ----------------------------------------------------------------------------------
ifneq ($(words $(CURDIR)),1)
$(error the path of this folder has spaces, which make cannot handle: '$(CURDIR)' (hint: move the checkout to a path without spaces))
endif
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
comma := ,
BUILD := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
Q := $(if $(filter 1,$(V)),,@)

include common/mk/flags.mk
include common/mk/compile.mk
include common/mk/vgpu.mk
include common/mk/native.mk
include common/mk/labs.mk
include common/mk/bench-gpu.mk
include common/mk/gpu-check.mk
include common/mk/profile-check.mk
include common/mk/profiler.mk
include common/mk/archives.mk
include common/mk/pictures.mk
include common/mk/test.mk

# ---- targets -----------------------------------------------------------------------------------
.PHONY: help setup demo all models models-check bench docs doctor format clean

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' \
	    $(filter Makefile common/mk/%,$(MAKEFILE_LIST))
	@echo "  make mN           build milestone N in labs/ (here: $(MILESTONES)); then: cd labs && ./grader mN"

setup: ## install the packages that are missing
	@common/mk/setup.sh install build test docs bench

doctor: ## list what is installed, what is missing, and what does not work without it
	@common/mk/setup.sh doctor
	@[ ! -x $(BUILD)/vgpu-run ] || { echo; $(BUILD)/vgpu-run --version; }

demo: ## set up, build, grade every reference, write build/report/index.html
	@common/mk/setup.sh install build
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) graded-references

all: $(PROGRAMS) ## build everything that is not a lab

models: $(BUILD)/train ## train the models again (SEED=N OUT=DIR for private ones)
	$(Q)$(BUILD)/train --out $(or $(OUT),data/models) $(if $(SEED),--seed $(SEED))

models-check: $(BUILD)/train ## train the committed models again, and compare every byte (6 minutes)
	$(Q)$(BUILD)/train --out $(BUILD)/models
	$(Q)for file in data/models/*; do cmp $$file $(BUILD)/models/$${file##*/} || exit 1; done

bench: ## measure the speeds that docs/results reports, each as a ratio within one run
	@common/mk/setup.sh install build bench
	$(Q)$(MAKE) --no-print-directory run-bench

docs: ## make a searchable site of all pages and public headers: build/docs/html
	@common/mk/setup.sh install docs
	$(Q)mkdir -p build/docs
	$(Q)doxygen docs/Doxyfile
	$(Q)! grep -l '&lt;tt&gt;' build/docs/html/*.html # a tag that Doxygen shows instead of obeying it
	@echo "docs: build/docs/html/index.html"

format: ## format the C and CUDA sources (clang-format 14; other versions differ)
	@clang-format --version | grep -q 'version 14\.' || { echo 'format: this needs clang-format 14' >&2; exit 2; }
	$(Q)git ls-files --cached --others --exclude-standard '*.[ch]' '*.cu' '*.cuh' | xargs clang-format -i

clean: ## remove build/
	$(Q)rm -rf build
