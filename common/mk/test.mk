# Tests: one Criterion program per module with a folder tests/, and a summary line at the end.

TEST_MODULES  := $(foreach m,$(MODULES),$(if $(wildcard $(m)/tests/*.c),$(m)))
test_program   = $(BUILD)/tests/$(subst /,-,$(1))
TEST_PROGRAMS := $(foreach m,$(TEST_MODULES),$(call test_program,$(m)))

define test_rules
$(call test_program,$(1)): $(call objects,$(wildcard $(1)/tests/*.c)) $(MODULE_LIBS)
	$$(Q)$$(SHOW)mkdir -p $$(@D)
	$$(Q)$$(LINK) $$^ -lcriterion $(LIBS) -o $$@
endef
$(foreach m,$(TEST_MODULES),$(eval $(call test_rules,$(m))))

# Wrong submissions: each is compiled like a lab, and the grader must reject it with the right pattern.
MUTANTS     := $(filter-out does_not_compile,$(patsubst grader/tests/mutants/%.c,%,$(wildcard grader/tests/mutants/*.c)))
MUTANT_LIBS := $(MUTANTS:%=$(BUILD)/mutants/%/libconv.so)

# Wrong submissions of GPU milestones, if nvcc exists: PTX only, and C++14, which halves nvcc's time for CUDA's own
# headers.
TEST_NVCCFLAGS = $(subst c++17,c++14,$(LAB_BASE_NVCCFLAGS)) -w -arch=compute_75 $(LAB_NVCCFLAGS)
CUDA_MUTANTS := $(if $(NVCC),$(patsubst grader/tests/mutants_cuda/%.cu,%,$(wildcard grader/tests/mutants_cuda/*.cu)))
CUDA_MUTANT_LIBS := $(CUDA_MUTANTS:%=$(BUILD)/mutants_cuda/%/libconv.so)

$(BUILD)/mutants_cuda/%/libconv.so: grader/tests/mutants_cuda/%.cu grader/tests/mutants_cuda/plain.cuh common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) $(TEST_NVCCFLAGS) $< -o $@

# Right submissions with and without the milestone's technique, several per file: mN.cu, mN-PART.cu and, only for
# `make techniques`, mN_SET.cu. Some use tensor cores and CUB.
TECHNIQUES := $(if $(NVCC),$(filter $(MILESTONES) $(MILESTONES:%=%-%),$(patsubst grader/tests/techniques/%.cu,%,$(wildcard grader/tests/techniques/[gm][0-9]*.cu))))
TECHNIQUE_SETS := $(if $(NVCC),$(patsubst grader/tests/techniques/%.cu,%,$(wildcard grader/tests/techniques/m[0-9]*_*.cu)))

$(BUILD)/techniques/%.o: grader/tests/techniques/%.cu $(wildcard grader/tests/techniques/*.cuh) common/conv.h common/gemm.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) $(filter-out -shared -std=% -arch=%,$(TEST_NVCCFLAGS)) -std=c++17 -arch=compute_$(if $(findstring hopper,$*),90,80) -c $< -o $@

$(BUILD)/mutants/%/libconv.so: grader/tests/mutants/%.c common/conv.h $(wildcard grader/tests/mutants/*.h grader/tests/mutants/*.inc)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) $(LAB_BASE_CFLAGS) -O2 -w $< -lm -o $@

# benchmarks are only compiled, so that an error in them is found
TEST_NEEDS += $(MUTANT_LIBS) $(CUDA_MUTANT_LIBS) $(TECHNIQUES:%=$(BUILD)/techniques/%.o) $(BENCH_PROGRAMS)

ifneq ($(NVCC),)
TEST_NEEDS   += $(BUILD)/tests/conv_times
TEST_SCRIPTS += grader/tests/clock/clock.sh
endif

# Compares the clock's model with a GPU: clock-measure runs on its machine, clock-compare here. Both compile for
# compute capability CLOCK_SM, because references have code of their own for 9.0, and the same code must be timed.
CLOCK_SM    ?= 90
CLOCK_NAMES := $(patsubst grader/tests/clock/variants/%.cu,%,$(wildcard grader/tests/clock/variants/*.cu)) \
               right right_grid_stride right_uncoalesced $(filter-out m1,$(filter m%,$(MILESTONES)))
clock_source = $(firstword $(wildcard reference/$(1)-*/conv.cu grader/tests/clock/variants/$(1).cu grader/tests/mutants_cuda/$(1).cu))
define clock_rule
$(BUILD)/clock/$(1)/libconv.so: $(call clock_source,$(1)) common/conv.h
	$$(Q)$$(SHOW)mkdir -p $$(@D)
	$$(Q)$$(NVCC) $$(LAB_BASE_NVCCFLAGS) $$(call lab_gencode,$$(CLOCK_SM),compute_$$(CLOCK_SM)) \
	    $$(call lab_gencode,$$(CLOCK_SM),sm_$$(CLOCK_SM)) $$(LAB_NVCCFLAGS) -w $$< -o $$@
endef
$(foreach name,$(CLOCK_NAMES),$(eval $(call clock_rule,$(name))))

CLOCK_NEEDS := $(BUILD)/vgpu/tests/clock/microbench $(BUILD)/vgpu/tests/clock/children $(BUILD)/tests/conv_times \
               $(CLOCK_NAMES:%=$(BUILD)/clock/%/libconv.so)
.PHONY: clock-measure clock-compare
clock-measure: $(CLOCK_NEEDS) ## time microbenchmarks and references on this GPU: OUT/clock-gpu.tsv (OUT: build/clock; 2 minutes; CLOCK_SM=90)
	$(Q)grader/tests/clock/compare-clock.sh measure $(BUILD) $(or $(OUT),$(BUILD)/clock)

clock-compare: $(CLOCK_NEEDS) vgpu ## compare the times of clock-measure with those of the virtual GPU: docs/results/GPU/model.tsv (GPU=h100 CLOCK=FILE; 5 minutes)
	$(Q)mkdir -p docs/results/$(GPU)
	$(Q)grader/tests/clock/compare-clock.sh compare $(BUILD) $(CLOCK) $(GPU) docs/results/$(GPU)/model.tsv

# Tests that are scripts: they print the same closing line as Criterion.
TEST_NEEDS   += $(BUILD)/compile_commands.json
TEST_SCRIPTS += grader/tests/cli/cli.sh grader/tests/editor/completion.sh grader/tests/mutants/mutants.sh common/mk/tests/tree.sh \
    $(if $(TECHNIQUES),grader/tests/techniques/techniques.sh) \
    $(if $(NVCC),grader/tests/editor/commands.sh grader/tests/textbook/textbook.sh grader/tests/words/words.sh grader/tests/mutations/sample.sh)

# For tests of which toolkit is used, and how it is installed.
TEST_NEEDS   += $(BUILD)/tests/find-toolkit
TEST_SCRIPTS += common/mk/tests/toolkit.sh
$(BUILD)/tests/find-toolkit: common/mk/tests/find_toolkit.c $(MODULE_LIBS)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) $(GLOBAL_CFLAGS) $(CFLAGS) $^ $(LIBS) -o $@

# Larger suites, not part of make check.
RUNS ?= 200
.PHONY: techniques mutants mutation-check steady-check textbook-check
techniques: $(PROGRAMS) $(if $(NVCC),vgpu) $(patsubst %,$(BUILD)/techniques/%.o,$(TECHNIQUES) $(TECHNIQUE_SETS)) ## grade right submissions in many styles, and submissions without the work or the technique
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/techniques/techniques.sh --all $(TECHNIQUES) $(TECHNIQUE_SETS)
	$(Q)$(if $(NVCC),CONVLAB_BUILD=$(BUILD) grader/tests/textbook/textbook.sh --all)
	$(Q)$(if $(NVCC),CONVLAB_BUILD=$(BUILD) grader/tests/textbook/textbook.sh --more)

mutants: $(addprefix $(BUILD)/,grader runner confine) $(if $(NVCC),vgpu) $(MUTANT_LIBS) $(CUDA_MUTANT_LIBS) ## grade every wrong submission: each must be rejected with the right diagnosis
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/mutants/mutants.sh
	$(Q)$(if $(NVCC),CONVLAB_BUILD=$(BUILD) grader/tests/words/words.sh --all)

mutation-check: $(BUILD)/grader $(BUILD)/runner vgpu ## plant faults in the references, and count how many the grader rejects and names
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/mutations/mutations.sh --results docs/results/mutations.md

steady-check: $(BUILD)/grader $(BUILD)/runner $(if $(NVCC),vgpu) reference ## grade right submissions RUNS times (200): none may fail
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/steady.sh $(RUNS)

TEXTBOOK_LIBS := $(patsubst grader/tests/textbook/%.cu,$(BUILD)/textbook/%/libconv.so,$(wildcard grader/tests/textbook/*.cu))
$(BUILD)/textbook/%/libconv.so: grader/tests/textbook/%.cu common/conv.h
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NVCC) $(TEST_NVCCFLAGS) $< -o $@

textbook-check: $(BUILD)/grader $(BUILD)/runner vgpu $(TEXTBOOK_LIBS) ## grade each textbook solution with 20 fresh seeds: none may fail (RUNS in all)
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/steady.sh --textbook $(or $(filter-out 200,$(RUNS)),$(shell expr 20 \* $(words $(TEXTBOOK_LIBS))))

# Gradings with little memory: a small one, and one like the smallest container of a grading platform.
TEST_SCRIPTS += grader/tests/memory/memory.sh
.PHONY: memory-check
memory-check: $(addprefix $(BUILD)/,grader runner confine) reference ## grade 10000 images of m1 in a control group of 768 MB
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/memory/memory.sh 10000 768

# The autograders for upload to grading platforms.
TEST_SCRIPTS += grader/export/tests/platforms.sh

# A class on a real Slurm, if installed.
TEST_SCRIPTS += grader/slurm/tests/slurm.sh

.PHONY: slurm-check
slurm-check: $(PROGRAMS) vgpu ## grade 64 submissions on a real Slurm of four nodes, one of which dies, and compare
	@common/mk/setup.sh install build slurm
	$(Q)CONVLAB_BUILD=$(BUILD) grader/slurm/tests/slurm.sh all

# Submissions that resemble each other: a small test, and the measurement of the goal.
TEST_SCRIPTS += $(if $(NVCC),grader/similar/tests/similar.sh)
.PHONY: similarity-check
similarity-check: $(PROGRAMS) ## count the copies that grader similar finds, and the independent solutions that it accuses (10 minutes; HALF=fresh: a class that was made after the thresholds)
	$(Q)PATH=$(dir $(NVCC)):$$PATH grader/similar/tests/resemblance.py $(BUILD)/grader $(BUILD)/similarity/$(or $(HALF),report) --half $(or $(HALF),report)

# A class with all kinds of bad input, and a class whose grading is killed and resumed.
TEST_SCRIPTS += grader/class/tests/class.sh

.PHONY: class-check
class-check: $(PROGRAMS) reference vgpu ## grade a class of N=300, undisturbed and killed KILLS=30 times, and compare (PAGE=1: its page)
	$(Q)CONVLAB_BUILD=$(BUILD) grader/class/tests/class-check.sh $(if $(PAGE),--page) $(or $(N),300) $(or $(KILLS),30) $(or $(JOBS),2)

# A whole term: downloads, deadlines, regrades, manual points, grades; killed and resumed. A short term, and a long one.
TEST_SCRIPTS += $(if $(NVCC),grader/class/tests/term.sh)
.PHONY: term-check
term-check: $(PROGRAMS) reference vgpu ## replay a term of N=200 students, undisturbed and killed KILLS=10 times, and compare (SEED=N)
	$(Q)CONVLAB_BUILD=$(BUILD) grader/class/tests/term.py $(or $(N),200) $(or $(KILLS),10) $(SEED)

# Ways to cheat: some run in make test; all run, several times, in make cheats.
TEST_SCRIPTS += grader/tests/cheats/cheats.sh
REPEATS ?= 1
.PHONY: cheats cheats-page
cheats: $(PROGRAMS) $(if $(NVCC),vgpu) ## grade every known way of cheating, with fresh seeds (REPEATS=N)
	$(Q)CONVLAB_BUILD=$(BUILD) grader/tests/cheats/cheats.sh --all --repeats $(REPEATS)

cheats-page: ## write docs/cheats.md from the table of cheats
	$(Q)grader/tests/cheats/page.sh > docs/cheats.md

# Tests run three at a time, except the one that exhausts resources. The longest start first.
TEST_ALONE := grader/tests/cheats/cheats.sh
TEST_FIRST := $(foreach name,techniques textbook words mutants cli,grader/tests/$(name)/$(name).sh) common/mk/tests/tree.sh \
              $(addprefix grader/class/tests/,class.sh term.sh)

# Clang may warn where gcc does not; sources must be formatted; headers must compile alone. (No test builds the fuzzers.)
LINT_SOURCES = $(foreach m,$(MODULES),$(wildcard $(m)/*.c $(m)/tests/*.c)) $(wildcard common/*/tests/fuzz/*.c)
LINT_HEADERS = $(filter-out %_tile.h,$(foreach m,$(MODULES),$(wildcard $(m)/*.h))) common/conv.h common/gemm.h
LINT_CUDA = $(foreach f,labs reference common grader,$(shell find $(f) -name '*.cu' -o -name '*.cuh')) \
    $(wildcard grader/tests/mutants/*.c grader/tests/cheats/*.c)
# *_tile.h are templates: they are included several times, with macros as parameters
# The driver of clang starts a process for each source, which takes more than half of the time; so lint calls clang -cc1.
.PHONY: lint order words
order: all $(if $(NVCC),$(GPUBENCH)) ## check that includes and symbols keep the order of the modules
	$(Q)common/mk/module-order.py --circles $(LOADED:%=--loaded %) \
	    $(addprefix --objects ,$(wildcard $(BUILD)/obj $(BUILD)/profiler/obj $(BUILD)/gpubench-obj)) $(ORDER)

# Comments, messages and pages: no word of words.tsv, and no misspelling known to codespell (SPELT: variables, one of
# CUDA's texts, and planted errors).
SPELT := caf,dout,fo,fro,iif,lates,nd,nin,occured,regraded,regrading,tabel,tread,truns,tthe,ue
WORDY = $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.cu' '*.cuh' '*.def' '*.inc' '*.sh' '*.mk' '*.awk' \
    '*.py' '*.yaml' '*.yml' '*.md' '*Makefile' NEWS)
words: ## check spelling, and words that comments, messages and pages avoid
	$(Q)common/mk/words.py common/mk/words.tsv $(wildcard $(WORDY))
	$(Q)if command -v codespell >/dev/null; then codespell -L $(SPELT) $(wildcard $(WORDY)); \
	    else echo "note: codespell is not installed: the spelling is not checked (hint: make setup)"; fi

lint: order words ## check warnings of gcc and clang, that headers compile alone, formatting, the order of the modules, words
	$(Q)cc1=$$(clang $(filter-out -Wno-format-truncation,$(GLOBAL_CFLAGS)) -Werror -fsyntax-only -x c '-###' - 2>&1 </dev/null | \
	    sed '$$!d; s/ "-"$$//') && echo $(LINT_SOURCES) | eval "xargs -n 40 $$cc1"
	$(Q)for f in $(LINT_HEADERS); do \
	    echo "#include \"$$f\"" | $(CC) $(GLOBAL_CFLAGS) -Werror -fsyntax-only -x c - || exit 1; done
	$(Q)if clang-format --version | grep -q 'version 14\.'; then \
	        clang-format --dry-run -Werror $(LINT_SOURCES) $(LINT_HEADERS) $(LINT_CUDA); \
	    else echo "note: clang-format 14 is not installed: the formatting is not checked"; fi

.PHONY: test check
test: ## set up, then run all tests
	@common/mk/setup.sh install build test docs bench
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) check

check: $(TEST_PROGRAMS) $(PROGRAMS) reference $(TEST_NEEDS) ## run all tests without setting up
	$(if $(NVCC),,@echo "skipped: tests that compile CUDA programs: no nvcc in $(CUDA_HOME)/bin")
	$(Q)common/mk/run-tests.sh $(BUILD) $(foreach script,$(TEST_FIRST),$(filter $(script),$(TEST_SCRIPTS))) \
	    $(TEST_PROGRAMS) $(filter-out $(TEST_FIRST) $(TEST_ALONE),$(TEST_SCRIPTS)) \
	    -- $(filter $(TEST_ALONE),$(TEST_SCRIPTS))

# Tests on 64-bit Arm: builds the whole suite and tests the modules that work entirely under qemu-user.
ARM64_BUILD   := build/arm64/build
ARM64_MODULES := $(filter-out $(LOADED),$(filter common/%,$(TEST_MODULES))) \
                 $(addprefix grader/,course session compare paper profile plots report gradebook export slurm sweep rank \
                     class explain feedback handin history place similar stages standing)
ARM64_ROOT    := $(CURDIR)/build/arm64/root
ARM64_MAKE     = $(MAKE) --no-print-directory --silent BUILD=$(ARM64_BUILD) CUDA_HOME=$(CURDIR)/build/arm64/cuda LLVM= \
                 CC='aarch64-linux-gnu-gcc --sysroot=$(ARM64_ROOT)' SYSROOT=$(ARM64_ROOT) STRIP=aarch64-linux-gnu-strip \
                 LDD='qemu-aarch64 -L $(ARM64_ROOT) $(ARM64_ROOT)/lib/ld-linux-aarch64.so.1 --list'
.PHONY: arm64-root arm64-handout arm64-check
arm64-root:
	@common/mk/setup.sh install arm64
	$(Q)common/mk/arm64.sh root
	$(Q)mkdir -p build/arm64/cuda && ln -sfn $(CUDA_HOME)/include build/arm64/cuda/include

arm64-handout: arm64-root ## the students' archive for 64-bit Arm, built here: build/arm64/build/convlab-handout.tar.gz
	+$(Q)$(ARM64_MAKE) handout

arm64-check: arm64-handout ## build the suite for 64-bit Arm; run the tests of most modules, grade m1 and try the archive under qemu-user
	+$(Q)$(ARM64_MAKE) LAB_CFLAGS=-O3 all $(TEST_PROGRAMS:$(BUILD)/%=$(ARM64_BUILD)/%) \
	    $(ARM64_BUILD)/reference/m1/libconv.so $(ARM64_BUILD)/mutants/weights_flipped/libconv.so
	$(Q)common/mk/arm64.sh run $(foreach m,$(ARM64_MODULES),$(ARM64_BUILD)/tests/$(subst /,-,$(m)))

# Fuzzing with clang's libFuzzer (package libclang-rt-14-dev); without libFuzzer, `make check` replays the corpus and
# mutations of it.
READER_FUZZ_SOURCES := common/nn/tests/fuzz/fuzz_readers.c common/nn/idx.c common/nn/safetensors.c \
                common/base/files.c common/base/status.c
FUZZ_SECONDS ?= 60

.PHONY: fuzz
fuzz: $(BUILD)/fuzz_readers ## fuzz the file readers with libFuzzer (FUZZ_SECONDS=N)
	$(Q)mkdir -p $(BUILD)/fuzz-corpus
	$(Q)$< -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -artifact_prefix=$(BUILD)/ \
	    $(BUILD)/fuzz-corpus common/nn/tests/fuzz/corpus

$(BUILD)/fuzz_readers: $(READER_FUZZ_SOURCES) $(wildcard common/nn/*.h common/base/*.h common/nn/tests/fuzz/*.h)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)clang $(filter-out -Wno-format-truncation,$(GLOBAL_CFLAGS)) -O1 -g \
	    -fsanitize=fuzzer,address,undefined $(READER_FUZZ_SOURCES) -lcjson -lz -lm -o $@
