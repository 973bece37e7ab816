# Labs and references: every folder labs/mN-* is a milestone, built into build/labs/mN/libconv.so, in numerical order;
# except m0, which has no code. The letter selects the exercise (common/exercise): m is the convolution, in conv.c or
# conv.cu; g is SGEMM, in gemm.cu.

LAB_FOLDERS := $(notdir $(foreach letter,m g,$(foreach digits,[1-9] [1-9][0-9] [1-9][0-9][0-9],$(sort $(wildcard labs/$(letter)$(digits)-*)))))
MILESTONES  := $(foreach f,$(LAB_FOLDERS),$(firstword $(subst -, ,$(f))))
lab_folder   = $(firstword $(filter $(1)-%,$(LAB_FOLDERS)))
$(foreach m,$(sort $(MILESTONES)),$(if $(word 2,$(filter $(m)-%,$(LAB_FOLDERS))),$(error labs/ has two folders of \
    the milestone $(m): $(filter $(m)-%,$(LAB_FOLDERS)) (hint: give one of them another number, or move it))))

LAB_INCLUDE     := common#  the folder of conv.h
LAB_BASE_CFLAGS = -std=gnu11 -g -I$(LAB_INCLUDE) -fPIC -shared -fopenmp -Wall -Wextra

.PHONY: $(MILESTONES) $(addprefix lab-,$(MILESTONES)) $(addprefix reference-,$(MILESTONES)) \
        $(addprefix print-lab-,$(MILESTONES)) reference graded-references skeletons points \
        $(addprefix print-lab-command-,$(MILESTONES)) $(addprefix print-lab-compiler-,m0 $(MILESTONES)) $(addprefix print-lab-gpu-,$(MILESTONES))

# GPU milestones: PTX for the virtual GPU and for GPUs newer than the toolkit; machine code for this machine's GPU if
# the toolkit knows it, otherwise for the GPUs of courses (V100 T4 A100 A40 L4 H100), because PTX may be too new for a
# machine's driver. Machine code also runs on later GPUs of its generation: sm_70 on the T4, sm_86 on the L4; code for
# every GPU would make ptxas take up to half of nvcc's time (m8, m9). The virtual GPU reads registers and spills from
# the machine code of the nearest GPU. CUDA 13 no longer compiles for Volta. A rubric's compute_capability is the lowest
# that has the milestone's instructions. Tests that compile many programs set LAB_CODE=90 and LAB_STD=c++14, which save
# 0.4 of nvcc's time. The virtual H200 then executes the same PTX, and reads the same machine code, as with a student's
# flags; with these flags grade, for example, the cases of the command line.
LAB_CODE      ?= 80 86 90
LAB_STD       ?= c++17
LAB_OLDEST    := $(if $(filter 12,$(CUDA_MAJOR)),70,75)
LAB_NEEDED    := $(shell awk '$$1 == "compute_capability:" { split(FILENAME, part, /[\/-]/); print part[2] "=" $$2 }' \
                   $(LAB_FOLDERS:%=labs/%/rubric.yaml) 2>/dev/null)
lab_oldest     = $(or $(patsubst $(1)=%,%,$(filter $(1)=%,$(LAB_NEEDED))),$(LAB_OLDEST))
lab_gencode    = -gencode arch=compute_$(1)$(comma)code=$(2)
lab_nvcc_arch  = $(call lab_gencode,$(1),compute_$(1)) \
    $(or $(call lab_gpu_arch,$(1)),$(foreach sm,$(sort $(1) $(LAB_CODE)),$(call lab_gencode,$(1),sm_$(sm))))
LAB_GPU_SM    := $(if $(wildcard /dev/nvidiactl),$(firstword $(subst .,,$(shell nvidia-smi \
                   --query-gpu=compute_cap --format=csv$(comma)noheader 2>/dev/null))))
LAB_GPU_HERE  := $(LAB_GPU_SM)
LAB_GPU_SM    := $(if $(LAB_GPU_SM),$(filter sm_$(LAB_GPU_SM),$(shell $(NVCC) --list-gpu-code 2>/dev/null)))
LAB_GPU_ARCH  := $(if $(LAB_GPU_SM),-gencode arch=$(LAB_GPU_SM:sm_%=compute_%)$(comma)code=$(LAB_GPU_SM))
lab_gpu_arch   = $(if $(filter $(1),$(firstword $(sort $(1) $(LAB_GPU_HERE))))$(filter 1%,$(LAB_GPU_HERE)),$(LAB_GPU_ARCH))
# -fno-gnu-unique: kernels that are templates keep their handles in symbols that all libraries of a process would
# otherwise share, and gpubench loads several libraries.
LAB_BASE_NVCCFLAGS = -std=$(LAB_STD) -lineinfo -g -I$(LAB_INCLUDE) -cudart shared -shared -Xcompiler -fPIC,-Wall,-Wextra,-fno-gnu-unique
LAB_NVCCFLAGS ?= -O3

# The command that compiles a library: $(1) the source, $(2) the library, $(3) the milestone.
lab_compile_cu = $(NVCC) $(LAB_BASE_NVCCFLAGS) $(call lab_nvcc_arch,$(call lab_oldest,$(3))) $(LAB_NVCCFLAGS) $(1) -o $(2)
lab_compile_c  = $(CC) -pipe $(LAB_BASE_CFLAGS) $(LAB_CFLAGS) $(1) -lm -o $(2)

# compile-lab runs that command for a student's file in the sandbox, which confine sets up.
COMPILE_LAB       := $(BUILD)/compile-lab
COMPILE_LAB_NEEDS := $(COMPILE_LAB) $(BUILD)/confine
compile_lab        = $(COMPILE_LAB) $(if $(NO_SANDBOX),--no-sandbox) $< $@

# The grader runs the same commands itself: it gets them from these targets (grader/course/lab_make.c), one argument per
# line. print-lab-mN is for the lab in its folder, print-lab-command-mN for --source FILE.
$(addprefix print-lab-command-,$(MILESTONES)): LAB_INCLUDE := include

# A grading's report states the compiler and its flags.
nvcc_version  = $(if $(NVCC),$(shell $(NVCC) --version | sed -n 's/.* V\([0-9.]*\)$$/ \1/p'))
lab_says_cu   = nvcc$(nvcc_version), $(call lab_nvcc_arch,$(call lab_oldest,$(1))) $(LAB_NVCCFLAGS)
lab_says_c    = $(or $(shell $(CC) --version 2>/dev/null | head -n 1),unknown compiler), $(LAB_CFLAGS)

# $(1) the library, $(2) its source, $(3) the milestone, $(4) for a student's lab: the program that starts the compiler
define lab_library_rules
$(1): $(2) common/$(basename $(notdir $(2))).h $(if $(4),| $(COMPILE_LAB_NEEDS))
	$$(Q)$$(SHOW)mkdir -p $$(@D)
ifeq ($(suffix $(2)),.cu)
	$$(if $$(NVCC),,@echo "labs: $(2) is compiled by nvcc, which is not in $$(CUDA_HOME)/bin (hint: run make setup, or name an installed toolkit: make CUDA_HOME=FOLDER)" >&2; exit 1)
	$$(if $$(CUDA_TOO_OLD),@echo "labs: the CUDA Toolkit in $$(CUDA_HOME) is too old: version $$(CUDA_TOO_OLD) instead of 12040 (12.4) or later (hint: run make setup without CUDA_HOME or name a newer toolkit: make CUDA_HOME=FOLDER)" >&2; exit 1)
	$$(Q)$(4) $$(call lab_compile_cu,$$<,$$@,$(3))
else
	$$(Q)$(4) $$(call lab_compile_c,$$<,$$@)
endif
endef

# The name of a milestone's file; the reference is searched too, in case a student has removed the file.
lab_file = $(if $(filter g%,$(1)),gemm.cu,$(notdir $(firstword \
             $(wildcard $(addsuffix /$(call lab_folder,$(1))/conv.cu,reference labs)) conv.c)))

# compile_commands.json for editors: clangd searches for it in build/ of each folder above a source. clangd does not
# know nvcc's options.
EDITOR_CUDA = clang++ -x cuda --cuda-host-only -nocudainc -nocudalib -Wno-unknown-cuda-version -std=c++17 \
    -isystem $(CUDA_HOME)/include -include common/mk/editor.cuh -I$(LAB_INCLUDE)
editor_command = $(if $(filter %.cu,$(1)),$(EDITOR_CUDA),$(CC) $(LAB_BASE_CFLAGS) $(LAB_CFLAGS)) -c $(1)
lab_source     = labs/$(call lab_folder,$(1))/$(call lab_file,$(1))
editor_entry   = {"directory": "$(CURDIR)", "file": "$(1)", "command": "$(subst ",\",$(subst \,\\,$(call editor_command,$(1))))"}
.PHONY: compile_commands
compile_commands: $(BUILD)/compile_commands.json
$(BUILD)/compile_commands.json: common/mk/labs.mk common/mk/editor.cuh
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)printf '%s\n' '[' $(foreach m,$(MILESTONES),'$(call editor_entry,$(call lab_source,$(m)))$(if $(filter-out $(lastword $(MILESTONES)),$(m)),$(comma))') ']' >$@

define milestone_rules
$(1): lab-$(1) $(BUILD)/compile_commands.json $(addprefix $(BUILD)/,grader runner confine boxed vprof) $(if $(filter %.cu,$(call lab_file,$(1))),vgpu)
lab-$(1): $(BUILD)/labs/$(1)/libconv.so
reference-$(1): $(BUILD)/reference/$(1)/libconv.so
print-lab-$(1): ; @printf '%s\n' $$(call lab_compile_$(subst .,,$(suffix $(call lab_file,$(1)))),labs/$(call lab_folder,$(1))/$(call lab_file,$(1)),$(BUILD)/labs/$(1)/libconv.so,$(1))
print-lab-compiler-$(1): ; @printf '%s\n' '$$(strip $$(call lab_says_$(subst .,,$(suffix $(call lab_file,$(1)))),$(1)))'
print-lab-gpu-$(1): ; @echo $(LAB_GPU_HERE)
print-lab-command-$(1): ; @printf '%s\n' $$(call lab_compile_$(subst .,,$(suffix $(call lab_file,$(1)))),$(call lab_file,$(1)),libconv.so,$(1))
$(call lab_library_rules,$(BUILD)/labs/$(1)/libconv.so,labs/$(call lab_folder,$(1))/$(call lab_file,$(1)),$(1),$$(compile_lab))
$(call lab_library_rules,$(BUILD)/reference/$(1)/libconv.so,reference/$(call lab_folder,$(1))/$(call lab_file,$(1)),$(1))
endef
$(foreach m,$(MILESTONES),$(eval $(call milestone_rules,$(m))))

# The plain loops of m1, which are timed for comparison: the reference's source with each function renamed to the next.
reference-m1: $(BUILD)/reference/m1/libconv-plain.so
$(BUILD)/reference/m1/libconv-plain.so: reference/m1-cpu-conv/conv.c common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -shared,$(LAB_BASE_CFLAGS)) $(LAB_CFLAGS) -c $< -o $(@D)/plain.o
	$(Q)objcopy --redefine-sym conv_forward=conv_forward_fast \
	    --redefine-sym conv_seven_loops=conv_forward $(@D)/plain.o
	$(Q)$(CC) -shared -fopenmp $(@D)/plain.o -o $@

# The plain version of m13, with which its Layer Time is compared: m2's kernel on the whole batch at once, so that
# nothing overlaps.
reference-m13: $(BUILD)/reference/m13/libconv-plain.so
$(BUILD)/reference/m13/libconv-plain.so: reference/m13-streams/conv.cu common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(call lab_compile_cu,$<,$@,m13) -DPARTS=1 -DSHARED_MOST=0

.PHONY: m0
print-lab-compiler-m0: print-lab-compiler-m1
m0: $(BUILD)/grader $(BUILD)/library-baseline

# Milestones whose references can be compiled on this machine.
CUDA_MILESTONES := $(foreach m,$(MILESTONES),$(if $(filter %.cu,$(call lab_file,$(m))),$(m)))
READY := $(if $(NVCC),$(MILESTONES),$(filter-out $(CUDA_MILESTONES),$(MILESTONES)))

reference: $(addprefix reference-,$(READY)) ## build the reference solutions

# m1 to m9 run at all sizes, m10 and later at the smallest size, SGEMM at all sizes except the largest.
FIRST_LADDER  := $(filter $(addprefix m,1 2 3 4 5 6 7 8 9),$(READY))
PRODUCTS      := $(filter g%,$(READY))
SECOND_LADDER := $(filter-out $(FIRST_LADDER) $(PRODUCTS),$(READY))
grade_all      = $(if $(strip $(1)),$(BUILD)/grader $(1) --reference $(2))
graded-references: $(addprefix $(BUILD)/,grader runner confine boxed vprof library-baseline) $(if $(NVCC),vgpu) reference
	$(Q)$(BUILD)/grader m0 --images 100,1000
	$(Q)$(call grade_all,$(FIRST_LADDER))
	$(Q)$(call grade_all,$(SECOND_LADDER),--images 100)
	$(Q)$(call grade_all,$(PRODUCTS),--images 100$(comma)1024)
	$(if $(NVCC),,@echo "demo: skipped $(CUDA_MILESTONES): no nvcc in $(CUDA_HOME)/bin")
	@echo "demo: open build/report/index.html"

skeletons: ## generate the skeletons in labs/ from the references
	$(Q)for f in $(LAB_FOLDERS); do \
	    for s in reference/$$f/*.c*; do \
	        awk -f common/mk/skeleton.awk $$s > labs/$$f/$$(basename $$s); done; done

points: ## write the points of the rubrics into the assignment pages
	$(Q)for r in labs/*/rubric.yaml; do page=$${r%/*}/README.md; \
	    awk -f common/mk/lab-points.awk $$r $$page > $$page.new && mv $$page.new $$page || exit 1; done
