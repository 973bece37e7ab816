# Programs for a machine with a GPU: the benchmark of all GPU milestones and cuDNN (make bench-gpu), and
# the unit shapes on the device (make gpu-check).
#
# They are linked with NVIDIA's libcudart.so, because they load the labs into themselves. They need nvcc, but none of
# the grader's packages.

GPUBENCH          := $(BUILD)/gpubench $(BUILD)/gpushapes
GPUBENCH_SOURCES  := $(filter-out %_main.c,$(wildcard grader/gpubench/*.c)) grader/course/cases.c grader/course/floor.c \
                     common/vendor/cudnn_conv.c $(wildcard common/exercise/*.c) $(addprefix common/nn/,oracle.c oracle_kernel.c) \
                     $(filter-out %/page_template.c %/yaml_file.c,$(wildcard common/base/*.c))
GPUBENCH_OBJECTS  := $(patsubst %.c,$(BUILD)/gpubench-obj/%.o,$(GPUBENCH_SOURCES)) \
                     $(BUILD)/gpubench-obj/grader/gpubench/gpubench_kernels.o
BENCH_GPU_OUT     ?= $(BUILD)/bench-gpu

# Separate objects, never with sanitizers: CUDA's libraries do not work with them.
$(BUILD)/gpubench-obj/%.o: %.c
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) $(GLOBAL_CFLAGS) -O2 -g -isystem $(CUDA_HOME)/include -MMD -MP -c $< -o $@

$(BUILD)/gpubench-obj/%.o: %.cu grader/gpubench/gpubench_kernels.h common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -O3 -lineinfo -I. -Icommon -Xcompiler -Wall,-Wextra $(call lab_nvcc_arch,$(LAB_OLDEST)) -c $< -o $@

$(GPUBENCH): $(BUILD)/%: $(BUILD)/gpubench-obj/grader/gpubench/%_main.o $(GPUBENCH_OBJECTS)
	$(Q)$(NVCC) -cudart shared $^ -Xlinker --export-dynamic-symbol=conv_workspace -lm -ldl -lpthread -o $@

.PHONY: bench-gpu
bench-gpu: $(if $(NVCC),$(BUILD)/gpubench $(addprefix reference-,$(CUDA_MILESTONES))) ## time all GPU references and cuDNN on this machine's GPU
	$(Q)common/mk/bench-gpu.sh $(BUILD) $(BENCH_GPU_OUT) "$(CUDA_HOME)"

# Variants of m7 and m5 for docs/variants.md: a library per function of filter_sums.cu.
VARIANT_SUMS      := one_sum $(foreach way,atomics passes tree shuffle,$(addprefix $(way)_,2 4 8))
VARIANT_BLAS      := $(if $(wildcard $(CUDA_HOME)/include/cublas_v2.h),cublas)
VARIANT_LIBRARIES := $(VARIANT_SUMS:%=$(BUILD)/variants/%.so) $(VARIANT_BLAS:%=$(BUILD)/variants/%.so)
VARIANT_IMAGES    ?= 1,10,100

$(BUILD)/variants/%.o: grader/gpubench/variants/%.cu common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -O3 -lineinfo -Icommon -Xcompiler -fPIC,-Wall,-Wextra $(LAB_NVCC_ARCH) -cudart shared -c $< -o $@

$(VARIANT_SUMS:%=$(BUILD)/variants/%.so): $(BUILD)/variants/filter_sums.o
$(BUILD)/variants/cublas.so: $(BUILD)/variants/unrolled_cublas.o
$(VARIANT_LIBRARIES): $(BUILD)/variants/%.so:
	$(Q)objcopy --redefine-sym $*=conv_forward $< $(@:.so=.renamed.o)
	$(Q)$(CXX) -shared $(@:.so=.renamed.o) -L$(CUDA_HOME)/lib64 -lcudart $(if $(filter cublas,$*),-lcublas) -o $@

.PHONY: variants
variants: $(if $(NVCC),$(BUILD)/gpubench $(VARIANT_LIBRARIES) reference-m5 reference-m7 vgpu) ## time tree reduction, atomics, split sums and cuBLAS, on a GPU if there is one, else on the virtual GPU
	$(Q)LD_LIBRARY_PATH=$${LD_LIBRARY_PATH:+$$LD_LIBRARY_PATH:}$(CUDA_HOME)/lib64 \
	    $(if $(wildcard /dev/nvidiactl),,$(BUILD)/vgpu-run) $(BUILD)/gpubench --only two-layer --images $(VARIANT_IMAGES) \
	    --out $(BUILD)/variants $(foreach m,m5 m7,$(m)=$(BUILD)/reference/$(m)/libconv.so) \
	    $(foreach v,$(VARIANT_LIBRARIES),$(basename $(notdir $(v)))=$(v))

-include $(GPUBENCH_OBJECTS:.o=.d) $(wildcard $(BUILD)/gpubench-obj/grader/gpubench/*_main.d)

# Their test runs on the virtual GPU.
ifneq ($(NVCC),)
TEST_NEEDS   += $(GPUBENCH) $(VARIANT_LIBRARIES)
TEST_SCRIPTS += grader/gpubench/tests/gpubench.sh
endif
