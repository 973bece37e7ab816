# The library that records a program on a real GPU, for vprof.
#
# It needs the headers of CUPTI (part of the CUDA Toolkit); the library finds CUPTI itself at run time.

CUPTI_HEADER := $(firstword $(wildcard $(CUDA_HOME)/include/cupti.h $(CUDA_HOME)/extras/CUPTI/include/cupti.h))
CUPTI_LIBRARY := $(BUILD)/profiler/libconvlab-cupti.so
CUPTI_OBJECTS := $(patsubst %.c,$(BUILD)/profiler/obj/%.o,$(wildcard common/cupti/*.c) common/vgpu/probe/names.c)
# Never with sanitizers, because the programs that load it are built without.
CUPTI_COMPILE := $(CC) $(GLOBAL_CFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -isystem $(dir $(CUPTI_HEADER)) \
                 -isystem $(CUDA_HOME)/include -MMD -MP

.PHONY: profiler
profiler: $(BUILD)/vprof vgpu $(if $(CUPTI_HEADER),$(CUPTI_LIBRARY)) ## build the profiler: build/vprof PROGRAM
	$(if $(CUPTI_HEADER),,@echo "profiler: no headers of CUPTI in $(CUDA_HOME): real GPUs cannot be profiled \
	    (hint: make setup)")

$(CUPTI_OBJECTS): $(BUILD)/profiler/obj/%.o: %.c | $(BUILD)/packages.ok
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CUPTI_COMPILE) -c $< -o $@

$(CUPTI_LIBRARY): $(CUPTI_OBJECTS)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs $^ -pthread -ldl -o $@

all: profiler

.PHONY: trace-page
trace-page: $(BUILD)/trace-table ## write docs/trace.md from the table of the trace's columns
	$(Q)$< > docs/trace.md

# ---- tests ------------------------------------------------------------------------------------------
# A fake CUPTI and a fake program, which test the library without a GPU.

FAKE_CUPTI := $(BUILD)/profiler/tests/libcupti-fake.so $(BUILD)/profiler/tests/fake_program

$(BUILD)/profiler/tests/libcupti-fake.so: common/cupti/tests/fake_cupti.c common/cupti/tests/fake_cupti.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CUPTI_COMPILE) -shared -Wl,-soname,$(@F) $< -o $@

$(BUILD)/profiler/tests/fake_program: common/cupti/tests/fake_program.c common/cupti/tests/fake_cupti.h common/trace/recorded.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) $(GLOBAL_CFLAGS) $(CFLAGS) $< -ldl -o $@

TEST_NEEDS += $(if $(CUPTI_HEADER),$(CUPTI_LIBRARY) $(FAKE_CUPTI))
-include $(CUPTI_OBJECTS:.o=.d) $(wildcard $(BUILD)/profiler/tests/*.d)

# Programs in the style of students' code, on the virtual GPU: only some, because nvcc is slow.
ifneq ($(NVCC),)
TEST_NEEDS   += $(addprefix $(BUILD)/profiler/samples/,closed crash graph names overlap processes range reset volume)
TEST_SCRIPTS += common/vprof/tests/samples.sh
endif
