# How the C of the suite itself is compiled. Every folder below is a module: its *.c make a static
# library, its *_main.c are programs named after them, its *_bench.c go into `make bench`, and its
# tests/*.c make one Criterion program. A new file needs no entry here.

# The order of the modules, from the top down: a module may use only modules after it.
# `make lint` compares every include and every undefined symbol with this list (module-order.py).
ORDER := \
    grader/main \
    grader/watch \
    grader/explain \
    grader/class \
    grader/rank \
    grader/feedback \
    grader/similar \
    grader/export \
    grader/slurm \
    grader/standing \
    grader/gradebook \
    grader/sweep \
    grader/debug \
    grader/gpubench \
    grader/stages \
    grader/technique \
    grader/follow \
    grader/diagnose \
    grader/session \
    grader/compare \
    grader/paper \
    grader/report \
    grader/plots \
    grader/history \
    grader/profile \
    grader/handin \
    grader/course \
    grader/record \
    grader/sandbox \
    grader/place \
    common/bench \
    data/train \
    common/runner common/exercise common/vendor common/nn \
    common/vprof common/cupti common/analysis common/trace \
    common/vgpu/driver common/vgpu/cudart common/vgpu/device common/vgpu/gpus common/vgpu/fatbin common/vgpu/native \
    common/vgpu/exec \
    common/vgpu/probe common/vgpu/ptx common/vgpu/api \
    common/base

# Modules with their own rules: four libraries that programs load (vgpu.mk, native.mk, profiler.mk), and programs linked
# with NVIDIA's runtime (bench-gpu.mk).
LOADED  := common/vgpu/cudart common/vgpu/driver common/vgpu/native common/cupti
MODULES := $(filter-out $(LOADED) grader/gpubench,$(ORDER))

# The compiler's target, which may differ from this machine: x86_64, aarch64.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))

SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
LIBS := -liberty -lcyaml -lyaml -lsqlite3 -lseccomp -lzstd -llz4 -lcjson -lcmark-gfm -lcmark-gfm-extensions -lz -lm -ldl -pthread

COMPILE = $(CC) $(GLOBAL_CFLAGS) $(CFLAGS) $(SAN_FLAGS) -MMD -MP
# The archives (archive.mk) contain libraries that a machine may lack, in the folder shared/ beside the programs.
LINK    = $(CC) $(CFLAGS) $(SAN_FLAGS) -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/shared'

module_sources = $(filter-out %_main.c %_bench.c,$(wildcard $(1)/*.c))
objects        = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
library        = $(BUILD)/lib/lib$(notdir $(1)).a

# Files that a module contains as text: page.css becomes `extern const char page_css[]` (base/page_template.h).
EMBEDDED         := cl css html js gp md sql yml tex
embedded_objects  = $(foreach s,$(EMBEDDED),$(patsubst %,$(BUILD)/obj/%.o,$(wildcard $(1)/*.$(s))))

MODULE_LIBS := $(foreach m,$(MODULES),$(call library,$(m)))
MAINS       := $(foreach m,$(MODULES),$(wildcard $(m)/*_main.c))
PROGRAMS    := $(foreach m,$(MAINS),$(BUILD)/$(patsubst %_main.c,%,$(notdir $(m))))
BENCHES     := $(foreach m,$(MODULES),$(wildcard $(m)/*_bench.c))
BENCH_PROGRAMS := $(foreach b,$(BENCHES),$(BUILD)/$(patsubst %.c,%,$(notdir $(b))))

# Checks the packages once, so that a missing package gives a clear message, not a compiler error.
$(BUILD)/packages.ok: common/mk/packages.tsv
	$(Q)common/mk/setup.sh need build
	$(Q)mkdir -p $(@D) && touch $@

$(BUILD)/obj/%.o: %.c | $(BUILD)/packages.ok
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(COMPILE) -c $< -o $@

# A line of C for each line of the file, except lines that contain only a comment.
define embedding_rule
$(BUILD)/obj/%.$(1).o: %.$(1) | $(BUILD)/packages.ok
	$$(Q)$$(SHOW)mkdir -p $$(@D)
	$$(Q){ name=$$$$(basename $$< | tr -c 'a-z0-9\n' _); echo "extern const char $$$$name[]; const char $$$$name[] ="; \
	    sed -e '/^ *\/\*.*\*\/$$$$/d' -e 's/[\\"?]/\\&/g' -e 's/.*/"&\\n"/' $$<; echo '"";'; } | \
	    $$(CC) $$(GLOBAL_CFLAGS) $$(CFLAGS) $$(SAN_FLAGS) -x c -c - -o $$@
endef
$(foreach s,$(EMBEDDED),$(eval $(call embedding_rule,$(s))))

# Vendors' headers, if installed: the test compares our declarations with them.
$(BUILD)/obj/common/vendor/tests/%.o: CFLAGS += -isystem $(CUDA_HOME)/include

# The virtual GPU's instruction handlers are compiled once per instruction set and chosen at run time.
# -O3 makes them slower and doubles the compile time; full debug information about inlined functions also doubles it.
# -mno-vzeroupper saves nothing, and a call of code for plain x86-64 then costs 0.1 us on some processors.
VGPU_HANDLERS := $(BUILD)/obj/common/vgpu/exec/handlers_
$(VGPU_HANDLERS)base.o $(VGPU_HANDLERS)avx2.o $(VGPU_HANDLERS)avx512.o: \
    CFLAGS += $(if $(SAN),-O1,-O2 -g1) -fno-strict-aliasing -fno-trapping-math
ifeq ($(MACHINE),x86_64)
$(VGPU_HANDLERS)avx2.o: CFLAGS += -mavx2 -mfma -mf16c -mbmi2 -mpopcnt -mlzcnt
$(VGPU_HANDLERS)avx512.o: CFLAGS += -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma -mf16c -mbmi2 -mpopcnt \
    -mlzcnt -mprefer-vector-width=512
endif

define module_rules
$(call library,$(1)): $(call objects,$(call module_sources,$(1))) $(call embedded_objects,$(1))
	$$(Q)mkdir -p $$(@D) && rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach m,$(MODULES),$(eval $(call module_rules,$(m))))

define program_rules
$(BUILD)/$(patsubst %_main.c,%,$(notdir $(1))): $(call objects,$(1)) $(MODULE_LIBS)
	$$(Q)$$(LINK) $$(LDFLAGS_$(patsubst %_main.c,%,$(notdir $(1)))) $$^ $(LIBS) $$(LIBS_$(patsubst %_main.c,%,$(notdir $(1)))) -o $$@
endef
$(foreach m,$(MAINS),$(eval $(call program_rules,$(m))))

# Only this program reads archives, in a process of its own, because archives are not trusted.
LIBS_unpack-submission := -larchive

# Of our functions, the runner exports only conv_workspace() to labs, and replacements for functions that labs must not
# call (loading.h).
LDFLAGS_runner := -Wl,--export-dynamic-symbol=conv_workspace \
    -Wl,--defsym=dlopen=loading_dlopen -Wl,--export-dynamic-symbol=dlopen \
    -Wl,--defsym=dlmopen=loading_dlmopen -Wl,--export-dynamic-symbol=dlmopen

# These programs start often, so they load only the libraries that they use.
LDFLAGS_confine     := -Wl,--as-needed
LDFLAGS_compile-lab := -Wl,--as-needed

define bench_rules
$(BUILD)/$(patsubst %.c,%,$(notdir $(1))): $(call objects,$(1)) $(MODULE_LIBS)
	$$(Q)$$(LINK) -Wl,--export-dynamic-symbol=conv_workspace $$^ $(LIBS) $$(BENCH_LIBS) -o $$@
endef
$(foreach b,$(BENCHES),$(eval $(call bench_rules,$(b))))

.PHONY: run-bench bench-page
run-bench: $(BENCH_PROGRAMS) $(PROGRAMS) vgpu reference
	$(Q)echo "make bench, $$(LC_ALL=C date '+%-d %B %Y')" > $(BUILD)/bench.txt
	$(Q)bash -o pipefail -e -c 'for b in $(BENCH_PROGRAMS); do $$b; done' | tee -a $(BUILD)/bench.txt
	$(if $(NVCC),$(Q)bash -o pipefail -e -c 'for b in $(VGPU_BENCHES); do $(BUILD)/vgpu-run $$b; done' | \
	    tee -a $(BUILD)/bench.txt,@echo "skip: launches on the virtual GPU: no nvcc in $(CUDA_HOME)/bin")
	$(Q)bash -o pipefail -c 'common/mk/bench-grader.sh $(BUILD) $(NVCC)' | tee -a $(BUILD)/bench.txt

bench-page: ## write docs/results/bench-cpu.md and vgpu-speed.md from what make bench printed: build/bench.txt, or FROM=FILE
	$(Q)common/mk/bench-page.py $(or $(FROM),$(BUILD)/bench.txt) docs/results

-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/obj/*/*/*.d $(BUILD)/obj/*/*/*/*.d $(BUILD)/obj/*/*/*/*/*.d)
