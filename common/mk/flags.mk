# Flags for all makefiles: the suite's own, and those in the archives made from it.

GLOBAL_CFLAGS := -std=c11 -D_GNU_SOURCE -Icommon -I. -Wall -Wextra -Wshadow -Wstrict-prototypes \
                 -Wmissing-prototypes -Wno-format-truncation -fno-math-errno -ffp-contract=off -pthread

ifeq ($(CUDA_HOME),)
CUDA_HOME := $(shell common/mk/find-cuda.sh)
endif
NVCC      := $(wildcard $(CUDA_HOME)/bin/nvcc)
# for CUDA 12.4: 12040, and 12
CUDA_VERSION := $(if $(NVCC),$(shell sed -n 's/^\#define CUDART_VERSION *\([0-9]*\).*/\1/p' \
                  $(CUDA_HOME)/include/cuda_runtime_api.h 2>/dev/null))
CUDA_MAJOR   := $(patsubst 12%,12,$(patsubst 13%,13,$(CUDA_VERSION)))
CUDA_TOO_OLD := $(shell [ "$(or $(CUDA_VERSION),99999)" -ge 12040 ] || echo "$(CUDA_VERSION)")

# On a terminal, a recipe's first line shows the file that is being made.
SHOW = $(if $(filter 1,$(V)),,[ ! -t 2 ] || echo '  $@' >&2; )
