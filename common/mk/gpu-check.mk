# make gpu-check: checks everything on this machine's GPU.

DEVICE  ?= gpu#                DEVICE=virtual tries it without a GPU, with few images
RESULTS ?= $(if $(filter gpu,$(DEVICE)),docs/results,$(BUILD)/results)#  its tables go to RESULTS/<gpu>/

.PHONY: gpu-check
gpu-check: $(if $(NVCC),$(GPUBENCH) $(addprefix reference-,$(CUDA_MILESTONES)) vgpu) ## grade, compare, sanitize and benchmark all references on this GPU
	$(Q)common/mk/gpu-check.sh $(BUILD) "$(CUDA_HOME)" $(strip $(RESULTS)) $(strip $(DEVICE))

.PHONY: results-page
results-page: ## make the page and plots of measured results: make results-page GPU=h200
	$(Q)common/mk/results-page.py docs/results/$(or $(GPU),h200) $(BUILD)
