# What every makefile here needs: the suite's own, and those of the archives made from it.

GLOBAL_CFLAGS := -std=c11 -D_GNU_SOURCE -Icommon -I. -Wall -Wextra -Wshadow -Wstrict-prototypes \
                 -Wmissing-prototypes -Wno-format-truncation -fno-math-errno -ffp-contract=off -pthread

CUDA_HOME ?= $(or $(patsubst %/bin/nvcc,%,$(shell command -v nvcc)),/usr/local/cuda)
NVCC      := $(wildcard $(CUDA_HOME)/bin/nvcc)
