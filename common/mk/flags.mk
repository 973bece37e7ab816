# What every makefile here needs: the suite's own, and those of the archives made from it.

GLOBAL_CFLAGS := -std=c11 -D_GNU_SOURCE -Icommon -I. -Wall -Wextra -Wshadow -Wstrict-prototypes \
                 -Wmissing-prototypes -Wno-format-truncation -fno-math-errno -ffp-contract=off -pthread

ifeq ($(CUDA_HOME),)
CUDA_HOME := $(shell common/mk/find-cuda.sh)
endif
NVCC      := $(wildcard $(CUDA_HOME)/bin/nvcc)
# 12 or 13
CUDA_MAJOR := $(if $(NVCC),$(shell sed -n 's/^\#define CUDART_VERSION *\([0-9]*\)[0-9][0-9][0-9].*/\1/p' \
                $(CUDA_HOME)/include/cuda_runtime_api.h 2>/dev/null))
