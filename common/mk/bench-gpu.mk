# Programs for a machine with a GPU: the benchmark of all GPU milestones and cuDNN (make bench-gpu), and
# the unit shapes on the device (make gpu-check).
#
# They are linked with NVIDIA's libcudart.so, because they load the labs into themselves. They need nvcc,
# and none of the packages that the grader needs.

GPUBENCH          := $(BUILD)/gpubench $(BUILD)/gpushapes
GPUBENCH_SOURCES  := $(filter-out %_main.c,$(wildcard grader/gpubench/*.c)) grader/course/cases.c grader/course/floor.c \
                     common/vendor/cudnn_conv.c $(wildcard common/exercise/*.c) $(addprefix common/nn/,oracle.c oracle_kernel.c) \
                     $(filter-out %/page_template.c,$(wildcard common/base/*.c))
GPUBENCH_OBJECTS  := $(patsubst %.c,$(BUILD)/gpubench-obj/%.o,$(GPUBENCH_SOURCES)) \
                     $(BUILD)/gpubench-obj/grader/gpubench/gpubench_kernels.o
BENCH_GPU_OUT     ?= $(BUILD)/bench-gpu

# Never with sanitizers, which CUDA's libraries do not get along with: hence objects of their own.
$(BUILD)/gpubench-obj/%.o: %.c
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) $(GLOBAL_CFLAGS) -O2 -g -isystem $(CUDA_HOME)/include -MMD -MP -c $< -o $@

$(BUILD)/gpubench-obj/%.o: %.cu grader/gpubench/gpubench_kernels.h common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -O3 -lineinfo -I. -Icommon -Xcompiler -Wall,-Wextra $(LAB_NVCC_ARCH) -c $< -o $@

$(GPUBENCH): $(BUILD)/%: $(BUILD)/gpubench-obj/grader/gpubench/%_main.o $(GPUBENCH_OBJECTS)
	$(Q)$(NVCC) -cudart shared $^ -Xlinker --export-dynamic-symbol=conv_workspace -lm -ldl -lpthread -o $@

.PHONY: bench-gpu
bench-gpu: $(if $(NVCC),$(BUILD)/gpubench $(addprefix reference-,$(CUDA_MILESTONES))) ## time all GPU references and cuDNN on this machine's GPU
	$(Q)common/mk/bench-gpu.sh $(BUILD) $(BENCH_GPU_OUT) "$(CUDA_HOME)"

-include $(GPUBENCH_OBJECTS:.o=.d) $(wildcard $(BUILD)/gpubench-obj/grader/gpubench/*_main.d)

# Their test runs on the virtual GPU.
ifneq ($(NVCC),)
TEST_NEEDS   += $(GPUBENCH)
TEST_SCRIPTS += grader/gpubench/tests/gpubench.sh
endif
