# The virtual GPU: its CUDA runtime library, and the CUDA programs that test it.
#
# The library needs the CUDA Toolkit's headers, the programs need nvcc; without them make skips
# both and reports it.

CUDART_HEADER := $(wildcard $(CUDA_HOME)/include/cuda_runtime_api.h)

VGPU_PROFILES := $(patsubst common/vgpu/gpus/%,$(BUILD)/vgpu/profiles/%,\
                   $(wildcard common/vgpu/gpus/*.yaml))
SHIM          := $(BUILD)/vgpu/libcudart.so.13
SHIM_12       := $(BUILD)/vgpu/libcudart.so.12#  the same file: a program has one state, whichever it needs
SHIM_OBJECTS  := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard common/vgpu/cudart/*.c common/vgpu/driver/*.c)) \
                 $(BUILD)/vgpu/elf_sections.o $(BUILD)/vgpu/array_room.o
# Never with sanitizers, because the programs that load it are built without. -Wno-unused-parameter: many parameters of
# the CUDA runtime's functions are ignored.
SHIM_COMPILE  := $(CC) $(GLOBAL_CFLAGS) $(CFLAGS) -Wno-unused-parameter -fPIC -fvisibility=hidden \
                 -isystem $(CUDA_HOME)/include -I$(BUILD)/vgpu -MMD -MP
# The driver library, also under the names of NVIDIA's linker library, nvJitLink.
DRIVER        := $(addprefix $(BUILD)/vgpu/,libcuda.so.1 libnvJitLink.so.13 libnvJitLink.so.12)
VGPU_RUN      := $(BUILD)/vgpu-run $(BUILD)/vgpu-device $(VGPU_PROFILES) $(if $(CUDART_HEADER),$(SHIM) $(SHIM_12) $(DRIVER))

.PHONY: vgpu vgpu-check vgpu-programs
vgpu: $(VGPU_RUN) ## build the virtual GPU: build/vgpu-run PROGRAM
	$(if $(CUDART_HEADER),,@echo "vgpu: no CUDA Toolkit in $(CUDA_HOME): libcudart.so.13 is not built \
	    (hint: make setup)")

$(BUILD)/vgpu/profiles/%.yaml: common/vgpu/gpus/%.yaml
	$(Q)mkdir -p $(@D) && cp $< $@

$(filter $(BUILD)/obj/%,$(SHIM_OBJECTS)): $(BUILD)/obj/%.o: %.c | $(BUILD)/packages.ok
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(SHIM_COMPILE) -c $< -o $@

$(BUILD)/vgpu/%.o: common/vgpu/fatbin/%.c | $(BUILD)/packages.ok
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(SHIM_COMPILE) -c $< -o $@

$(BUILD)/vgpu/%.o: common/base/%.c | $(BUILD)/packages.ok
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(SHIM_COMPILE) -c $< -o $@

# The driver's errors, and its functions in the format of symbols.tsv.
$(BUILD)/vgpu/driver_errors.inc: $(CUDA_HOME)/include/cuda.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)sed -n 's/^ *\(CUDA_[A-Z0-9_]*\) *= [0-9]*,*$$/ERROR(\1)/p' $< > $@

$(BUILD)/vgpu/driver_symbols.tsv: $(CUDA_HOME)/include/cuda.h $(CUDA_HOME)/include/cudaProfiler.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)(echo symbol && grep -oh '\bcu[A-Z][A-Za-z0-9_]*' $^ | sort -u) | sed 's/$$/\t-\t=/' > $@

$(BUILD)/obj/common/vgpu/driver/driver_symbols.o: $(BUILD)/vgpu/driver_errors.inc

$(BUILD)/vgpu/stubs.c: common/vgpu/cudart/stubs.sh common/vgpu/cudart/symbols.tsv $(BUILD)/vgpu/driver_symbols.tsv $(SHIM_OBJECTS)
	$(Q)cat common/vgpu/cudart/symbols.tsv $(BUILD)/vgpu/driver_symbols.tsv > $(BUILD)/vgpu/all_symbols.tsv
	$(Q)common/vgpu/cudart/stubs.sh stubs $(BUILD)/vgpu/all_symbols.tsv $(SHIM_OBJECTS) > $@

$(BUILD)/vgpu/names.S: common/vgpu/cudart/stubs.sh common/vgpu/cudart/symbols.tsv
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)common/vgpu/cudart/stubs.sh names common/vgpu/cudart/symbols.tsv > $@

# -Bsymbolic: the jumps in names.S go to this library's own functions
$(SHIM): $(BUILD)/vgpu/stubs.c $(BUILD)/vgpu/names.S $(SHIM_OBJECTS) common/vgpu/cudart/cudart.map
	$(Q)$(SHIM_COMPILE) -MF $(BUILD)/vgpu/stubs.d -c $(BUILD)/vgpu/stubs.c -o $(BUILD)/vgpu/stubs.o
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-soname,libcudart.so.13 -Wl,-Bsymbolic -Wl,-z,initfirst \
	    -Wl,--version-script=common/vgpu/cudart/cudart.map -Wl,-z,defs $(BUILD)/vgpu/stubs.o \
	    $(BUILD)/vgpu/names.S $(SHIM_OBJECTS) -o $@

$(SHIM_12): $(SHIM)
	$(Q)ln -sf $(<F) $@

$(DRIVER): $(SHIM)
	$(Q)ln -sf $(<F) $@

# ---- a small cuBLAS, if the toolkit has cuBLAS's headers -----------------------------------------------
# In a separate folder, which is not visible to labs.

ifneq ($(and $(NVCC),$(wildcard $(CUDA_HOME)/include/cublas_v2.h)),)
BLAS         := $(BUILD)/vgpu-libraries/libcublas.so.13
BLAS_OBJECTS := $(patsubst %.cu,$(BUILD)/obj/%.o,$(wildcard common/vgpu/blas/*.cu))
BLAS_COMPILE := $(NVCC) -std=c++17 -arch=compute_75 -cudart shared -lineinfo -Icommon -Xcompiler -fPIC,-fvisibility=hidden
vgpu: $(BLAS)
TEST_NEEDS   += $(BUILD)/tests/blas

$(BLAS_OBJECTS): $(BUILD)/obj/%.o: %.cu common/vgpu/blas/blas.cuh
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(BLAS_COMPILE) -c $< -o $@

$(BUILD)/vgpu-libraries/stubs.cu: common/vgpu/blas/blas_stubs.sh common/vgpu/blas/blas_stub.cuh $(BLAS_OBJECTS)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)common/vgpu/blas/blas_stubs.sh $(CUDA_HOME)/include $(BLAS_OBJECTS) > $@

$(BLAS): $(BUILD)/vgpu-libraries/stubs.cu $(BLAS_OBJECTS) common/vgpu/blas/blas.map
	$(Q)$(BLAS_COMPILE) -shared -Xlinker -soname=$(@F) -Xlinker --version-script=common/vgpu/blas/blas.map \
	    $< $(BLAS_OBJECTS) -o $@
	$(Q)for name in libcublas.so.12 libcublasLt.so.13 libcublasLt.so.12; do ln -sf $(@F) $(@D)/$$name; done

$(BUILD)/tests/blas: common/vgpu/blas/tests/blas.cu common/vgpu/tests/check.cuh
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) $(VGPU_NVCC_FLAGS) -std=c++17 -arch=compute_75 -Icommon $< -lcublas -o $@
endif

all: vgpu

.PHONY: ptx-page
ptx-page: $(BUILD)/ptx-table ## write docs/supported-ptx.md from the table of opcodes
	$(Q)$< > docs/supported-ptx.md

# ---- CUDA programs ----------------------------------------------------------------------------------
# A program may request other flags in its first lines: "// nvcc: -arch=compute_80".

VGPU_TEST_SOURCES  := $(wildcard common/vgpu/tests/programs/*.cu common/vgpu/tests/faults/*.cu \
                        common/vgpu/tests/clock/*.cu common/vgpu/tests/refused/*.cu)
VGPU_TEST_PROGRAMS := $(patsubst common/vgpu/tests/%.cu,$(BUILD)/vgpu/tests/%,$(VGPU_TEST_SOURCES))
VGPU_NVCC_FLAGS    := -lineinfo -cudart shared
vgpu_runtime_of     = $(if $(shell sed -n '/^\/\/ nvcc: .*-cudart/p' $(1)),-lineinfo,$(VGPU_NVCC_FLAGS))
# C++14, unless the program requests another: nvcc then takes two thirds of the time for CUDA's own headers
vgpu_test_flags     = $(call vgpu_flags_of,$(shell sed -n 's|^// nvcc: ||p' $(1)))
vgpu_flags_of       = $(if $(findstring -std=,$(1)),,-std=c++14) \
                      $(if $(or $(findstring -arch,$(1)),$(findstring -gencode,$(1))),,-arch=compute_75) $(1)

VGPU_TEST_HEADERS  := $(wildcard common/vgpu/tests/*.cuh common/vgpu/tests/clock/*.cuh common/vgpu/tests/programs/units/*)
$(BUILD)/vgpu/tests/%: common/vgpu/tests/%.cu $(VGPU_TEST_HEADERS)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) $(call vgpu_runtime_of,$<) -Icommon $(call vgpu_test_flags,$<) $< -o $@

# A program NAME_debug.cu includes NAME.cu.
$(filter %_debug,$(VGPU_TEST_PROGRAMS)): $(BUILD)/vgpu/tests/%_debug: common/vgpu/tests/%.cu

# Most programs are compiled in groups: those without flags in ten, the others in a group for all with the same flags.
# The letters of a program's name choose its group, so that a new program changes no other group.
# Compiled alone are programs that other tests use or that need a newer toolkit, and those whose processes, kernels,
# macros or headers do not permit a group.
vgpu_flags_cluster  := -std=c++17 -arch=compute_90
vgpu_flags_ampere   := -std=c++17 -arch=compute_80
vgpu_flags_matrix   := -arch=compute_80
vgpu_flags_children := -arch=compute_75 -rdc=true
vgpu_flags_cub      := -std=c++17
VGPU_FLAG_GROUPS    := cluster ampere matrix children cub
vgpu_group_sources  := common/vgpu/tests/programs/*.cu common/vgpu/tests/faults/*.cu
VGPU_ALONE   := $(foreach name,vector_add dynamic_shared never_freed race_read_after_write tensor_maps \
                    barrier_transactions,%/$(name).cu)
VGPU_GROUPED := $(if $(filter print-%,$(MAKECMDGOALS)),,$(filter-out $(VGPU_ALONE),$(shell \
    grep -L -e '^// nvcc:' -e '^\#include <.*[.]h>' -e spawn.cuh -e driver.cuh -e argv -e 'extern "C"' -e '^namespace' \
        $(vgpu_group_sources) | awk '{ n = 0; for (i = 1; i <= length; i++) \
            n += index("abcdefghijklmnopqrstuvwxyz_", substr($$0, i, 1)); print n % 10 ":" $$0 }'; \
    $(foreach g,$(VGPU_FLAG_GROUPS),grep -lx '// nvcc: $(vgpu_flags_$(g))' $(vgpu_group_sources) | sed 's/^/$(g):/';))))

# $(1) the name of a group, $(2) its sources
define vgpu_group
$(BUILD)/vgpu/tests/group-$(1): $(2) common/vgpu/tests/group.awk $(VGPU_TEST_HEADERS)
	$$(Q)$$(SHOW)mkdir -p $$(@D)/programs $$(@D)/faults
	$$(Q)awk -f common/vgpu/tests/group.awk $(2) > $$@.cu
	$$(Q)$$(NVCC) $$(VGPU_NVCC_FLAGS) -Icommon -I. $$(call vgpu_flags_of,$$(vgpu_flags_$(1))) $$@.cu -o $$@
$(2:common/vgpu/tests/%.cu=$(BUILD)/vgpu/tests/%): $(BUILD)/vgpu/tests/group-$(1)
	$$(Q)ln -f $$< $$@
endef
$(foreach g,0 1 2 3 4 5 6 7 8 9 $(VGPU_FLAG_GROUPS),$(eval \
    $(call vgpu_group,$(g),$(patsubst $(g):%,%,$(filter $(g):%,$(VGPU_GROUPED))))))

# Benchmarks.
VGPU_BENCHES := $(patsubst common/vgpu/tests/%.cu,$(BUILD)/vgpu/tests/%,$(wildcard common/vgpu/tests/bench/*.cu))
run-bench: $(if $(NVCC),$(VGPU_BENCHES) vgpu-programs)

vgpu-programs: $(if $(NVCC),$(VGPU_TEST_PROGRAMS))

vgpu-check: vgpu ## run the CUDA programs and the planted faults on the virtual GPU
	$(if $(NVCC),$(Q)$(MAKE) --no-print-directory -k vgpu-programs; \
	    TSAN_OPTIONS=suppressions=$(CURDIR)/common/mk/tsan.supp CONVLAB_BUILD=$(BUILD) \
	    common/vgpu/tests/check.sh,@echo "vgpu-check: skipped: no nvcc in $(CUDA_HOME)/bin")

.PHONY: coverage
COVERAGE_PAGE ?= docs/results/coverage.md
TEST_SCRIPTS += $(if $(NVCC),common/vgpu/tests/coverage/coverage-test.sh)
coverage: vgpu native ## run programs of public collections (COLLECTIONS="cuda-samples=FOLDER" LIMIT=60 JOBS=1), write docs/results/coverage.md
	$(Q)common/vgpu/tests/coverage/coverage.sh $(BUILD) $(NVCC) $(COVERAGE_PAGE) $(COLLECTIONS)

# The programs again, with the static runtime that nvcc links by default.
OWN_RUNTIME := $(patsubst common/vgpu/tests/programs/%.cu,$(BUILD)/vgpu/own-runtime/%,$(wildcard common/vgpu/tests/programs/*.cu))
$(BUILD)/vgpu/own-runtime/%: common/vgpu/tests/programs/%.cu common/vgpu/tests/check.cuh
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -lineinfo -Icommon $(call vgpu_test_flags,$<) $< -o $@

.PHONY: vgpu-own-runtime
vgpu-own-runtime: vgpu vgpu-programs $(OWN_RUNTIME) ## run the CUDA programs with NVIDIA's static runtime inside, too
	$(Q)common/vgpu/tests/own-runtime.sh $(BUILD)

.PHONY: vgpu-python
vgpu-python: vgpu ## run kernels of Numba, PyCUDA and CuPy, fetched from the Python package index, on the virtual GPU
	$(Q)common/vgpu/tests/python/python.sh $(BUILD) $(CUDA_HOME)

TEST_NEEDS += $(VGPU_PROFILES)

# A program linked as by CUDA 12, and a test of the runtime's tables.
ifneq ($(CUDART_HEADER),)
TEST_NEEDS   += $(BUILD)/tests/cuda12
TEST_SCRIPTS += common/vgpu/cudart/tests/cudart.sh
$(BUILD)/tests/cuda12: common/vgpu/cudart/tests/cuda12.c $(SHIM) $(SHIM_12)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra $(CFLAGS) $< $(SHIM_12) -o $@
endif

# Part of make check if nvcc exists.
ifneq ($(NVCC),)
TEST_NEEDS   += vgpu vgpu-programs $(BUILD)/tests/limiters
TEST_SCRIPTS += common/vgpu/tests/check.sh common/vgpu/tests/clock/clock.sh common/analysis/tests/limiters.sh
endif

$(BUILD)/tests/limiters: common/analysis/tests/limiters.cu common/vgpu/tests/check.cuh
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) $(VGPU_NVCC_FLAGS) -Icommon $(call vgpu_test_flags,$<) $< -o $@

# ---- engines ----------------------------------------------------------------------------------------
# Random programs, run by two engines that must agree: a few in make test, more with vgpu-engines.

ENGINE_SECONDS ?= 60
ENGINE_OBJECTS := $(call objects,$(wildcard common/vgpu/tests/engines/*.c))
# beside the translator's library, which the program looks for in its own folder
ENGINES        := $(BUILD)/vgpu-engines

$(ENGINES): $(ENGINE_OBJECTS) $(MODULE_LIBS)
	$(Q)$(LINK) $^ $(LIBS) -o $@

TEST_NEEDS   += $(ENGINES) native
TEST_SCRIPTS += common/vgpu/tests/engines/engines.sh

.PHONY: vgpu-engines vgpu-engines-plants vgpu-engines-hostile
vgpu-engines: $(ENGINES) native ## compare the engines of the virtual GPU on random programs for ENGINE_SECONDS
	$(Q)$(ENGINES) --seed $(or $(SEED),$(shell date +%s)) --seconds $(ENGINE_SECONDS) --keep $(BUILD)/engines

vgpu-engines-hostile: $(ENGINES) native ## translate and run the fuzzers' corpus with MUTATIONS random changes: nothing may crash
	$(Q)$(ENGINES) --mutations $(or $(MUTATIONS),300) --b avx2:1:native --keep $(BUILD)/engines \
	    common/vgpu/tests/corpus/ptx/*.ptx

vgpu-engines-plants: $(ENGINES) native ## prove that the comparison of engines finds planted mistakes
	$(Q)$(ENGINES) --plant all --count 3000

# ---- fuzzing ----------------------------------------------------------------------------------------
# make vgpu-fuzz FUZZ_SECONDS=600: each reader, and the device process's requests, under AddressSanitizer
# and UBSan, from the corpus in the tree. A crash leaves its input in build/fuzz.

FUZZ_CFLAGS  := -std=c11 -D_GNU_SOURCE -Icommon -I. -O1 -g -fno-math-errno -ffp-contract=off -pthread \
                -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_SOURCES := $(foreach m,$(filter common/vgpu/%,$(MODULES)),$(call module_sources,$(m))) \
                $(call module_sources,common/base)
FUZZ_OBJECTS := $(patsubst %.c,build/fuzz/obj/%.o,\
                  $(filter-out common/vgpu/gpus/% %/yaml_file.c %/handlers_avx2.c %/handlers_avx512.c,$(FUZZ_SOURCES))) \
                $(call embedded_objects,common/vgpu/device) $(call embedded_objects,common/base)
# all handlers would be equal here, so only one of the three is compiled
FUZZ_LINK    := -Wl,--defsym=vg_handlers_avx2=vg_handlers_base -Wl,--defsym=vg_handlers_avx512=vg_handlers_base
FUZZ_NAMES   := fatbin ptx protocol
FUZZERS      := $(FUZZ_NAMES:%=build/fuzz/%_fuzz)

.PHONY: vgpu-fuzz
vgpu-fuzz: $(FUZZERS) ## fuzz the readers of fat binaries and PTX, and the protocol, for FUZZ_SECONDS each
	$(Q)set -e; for f in $(FUZZ_NAMES); do mkdir -p build/fuzz/corpus/$$f; \
	    build/fuzz/$${f}_fuzz -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=4096 -max_len=20000 -close_fd_mask=2 \
	        -artifact_prefix=build/fuzz/ -print_final_stats=1 build/fuzz/corpus/$$f \
	        common/vgpu/tests/corpus/$$f; done

build/fuzz/obj/%.o: %.c
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)clang $(FUZZ_CFLAGS) -Wno-pass-failed -MMD -MP -c $< -o $@

$(FUZZERS): build/fuzz/%: build/fuzz/obj/common/vgpu/tests/fuzz/%.o $(FUZZ_OBJECTS)
	$(Q)clang $(FUZZ_CFLAGS) $(FUZZ_LINK) $^ -lcjson -lseccomp -lzstd -llz4 -lm -o $@

-include $(wildcard $(BUILD)/obj/*/*/*/*/*.d build/fuzz/obj/*/*/*.d build/fuzz/obj/*/*/*/*.d \
                    build/fuzz/obj/*/*/*/*/*.d)
