# ConvLab as an archive: the programs are already built, labs are compiled here.
#
# This is the Makefile of the archives that `make handout` and `make bundle` make. It needs only gcc, make and, for GPU
# milestones, g++ and nvcc.

# ---- settings ----------------------------------------------------------------------------------
V       ?= 0#                 V=1 shows the commands
CC      := gcc
LAB_CFLAGS ?= -O3 -march=native#  flags for m1

ifneq ($(words $(CURDIR)),1)
$(error the path of this folder has spaces, which make cannot handle: '$(CURDIR)' (hint: move it to a path without spaces))
endif
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
comma := ,
BUILD := build
Q := $(if $(filter 1,$(V)),,@)

include common/mk/flags.mk
include common/mk/labs.mk
# present only in the archive for GPU machines
-include $(wildcard common/mk/bench-gpu.mk common/mk/gpu-check.mk common/mk/profile-check.mk)

# ---- targets -----------------------------------------------------------------------------------
.PHONY: help setup vgpu profiler doctor clean
help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' \
	    Makefile $(filter-out %/labs.mk,$(filter common/mk/%,$(MAKEFILE_LIST)))
	@echo "  make mN           build milestone N in labs/ (here: $(MILESTONES)); then: $(if $(wildcard grader/.),cd labs && )./grader mN"

setup: ## install NVIDIA's compiler into toolkit/ if nvcc is missing (needs python3)
	@$(if $(NVCC),echo "setup: nvcc is installed: $(NVCC)",common/mk/toolkit.sh)

doctor: ## list what this archive needs and what is missing
	@for p in gcc make; do printf '%-14s %s\n' $$p "$$(command -v $$p || echo 'MISSING: nothing can be built')"; done
	@printf '%-14s %s\n' g++ "$$(command -v g++ || echo 'MISSING: nvcc cannot compile GPU milestones')"
	@printf '%-14s %s\n' nvcc "$(or $(NVCC),MISSING: GPU milestones cannot be compiled (hint: make setup))"
	@printf '%-14s %s\n' 'NVIDIA GPU' "$$([ -e /dev/nvidiactl ] && echo yes || echo 'none: the virtual GPU is used')"
	@$(BUILD)/vgpu-run --version
	@printf '%-14s %s\n' ncu "$$(command -v ncu || echo 'none: vprof has no metrics of a real GPU')"
	@printf '%-14s %s\n' CUPTI "$$(ls $(CUDA_HOME)/lib64/libcupti.so.1? $(CUDA_HOME)/extras/CUPTI/lib64/libcupti.so.1? 2>/dev/null | grep . || echo 'none found: vprof cannot profile a real GPU')"
	@printf '%-14s %s\n' gnuplot "$$(command -v gnuplot || echo 'none: reports have no plots')"
	@printf '%-14s %s\n' pdflatex "$$(command -v pdflatex || command -v chromium || echo 'none, and no chromium: no report.pdf')"

vgpu profiler: ; @: # already built

clean: ## remove what was compiled and graded here
	$(Q)rm -rf $(BUILD)/labs $(BUILD)/report
