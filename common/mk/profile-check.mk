# make profile-check: checks vprof on this machine's GPU.

# Programs in the style of the CUDA samples, for both devices.
SAMPLES := $(patsubst common/vprof/tests/programs/%.cu,$(BUILD)/profiler/samples/%,$(wildcard common/vprof/tests/programs/*.cu))

# overlap_static.cu includes overlap.cu
$(BUILD)/profiler/samples/overlap_static: common/vprof/tests/programs/overlap.cu
$(BUILD)/profiler/samples/%: common/vprof/tests/programs/%.cu common/vprof/tests/programs/sample.cuh
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -lineinfo -arch=compute_75 $(shell sed -n 's|^// nvcc: ||p' $<) \
	    $(if $(findstring cudart,$(shell sed -n 's|^// nvcc: ||p' $<)),,-cudart shared) -L$(CUDA_HOME)/lib64/stubs $< -o $@

# Times several libraries, on a GPU or on the virtual GPU.
$(BUILD)/tests/conv_times: grader/tests/clock/conv_times.cu common/conv.h common/trace/recorded.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -Icommon -cudart shared $< -Xlinker -export-dynamic -ldl -o $@

# Programs for comparing the times of profilers.
$(BUILD)/tests/alone.so: common/vprof/tests/compared/alone.c
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -shared -fPIC -isystem $(CUDA_HOME)/include $< -o $@ -ldl
$(BUILD)/tests/spins: common/vprof/tests/compared/spins.cu
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) -std=c++17 -arch=compute_75 -cudart shared $< -o $@
COMPARED := $(addprefix $(BUILD)/tests/,conv_times alone.so spins)

.PHONY: profile-check
profile-check: profiler $(if $(NVCC),$(SAMPLES) $(COMPARED) $(addprefix reference-,$(CUDA_MILESTONES))) ## measure vprof on this GPU: its times compared with ncu's, its cost, and lost records
	$(Q)common/mk/profile-check.sh $(BUILD) "$(CUDA_HOME)" $(RESULTS)

.PHONY: profiler-page
profiler-page: ## make the page of profile-check's measurements: make profiler-page GPU=h200
	$(Q)common/mk/profiler-page.py docs/results/$(or $(GPU),h200)
