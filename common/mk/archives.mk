# The archives for students and for machines with a GPU.

ARCHIVED_PROGRAMS := $(addprefix $(BUILD)/,grader runner confine compile-lab unpack-submission boxed vprof library-baseline)

.PHONY: handout handout-check bundle
handout: $(ARCHIVED_PROGRAMS) vgpu profiler ## the students' archive, without solutions: build/convlab-handout.tar.gz
	$(Q)MACHINE=$(MACHINE) common/mk/pack.sh handout $(BUILD) $(BUILD)/convlab-handout.tar.gz

handout-check: $(ARCHIVED_PROGRAMS) vgpu profiler ## test the students' archive with every milestone
	$(Q)CONVLAB_BUILD=$(BUILD) common/mk/tests/handout.sh all

bundle: $(ARCHIVED_PROGRAMS) vgpu profiler ## an archive for a machine with a GPU, gcc, g++, make and nvcc: build/convlab-bundle.tar.gz
	$(Q)MACHINE=$(MACHINE) common/mk/pack.sh bundle $(BUILD) $(BUILD)/convlab-bundle.tar.gz

.PHONY: modelled-times
modelled-times: $(BUILD)/model-times vgpu reference ## model the references on all GPUs, for hand-outs: data/modelled-times.tsv (8 minutes)
	$(Q)$(BUILD)/model-times > data/modelled-times.tsv.new && mv data/modelled-times.tsv.new data/modelled-times.tsv

# NEWS has the version.
.PHONY: deb
DEB_VERSION = $(shell sed -n 's/^\([0-9][0-9.]*\), not yet released.*/\1~dev/p; s/^\([0-9][0-9.]*\)[, ].*/\1/p' NEWS | head -n 1)
deb: $(BUILD)/vprof vgpu profiler native ## a Debian package of vgpu-run and vprof alone: build/convlab-vgpu.deb
	$(Q)common/mk/deb.sh $(BUILD) $(DEB_VERSION) $(BUILD)/convlab-vgpu.deb

.PHONY: man
man: $(BUILD)/grader $(BUILD)/vprof $(BUILD)/vgpu-run ## make the man pages of grader, vprof and vgpu-run from their --help: build/man
	$(Q)common/mk/man-pages.sh $(BUILD) $(DEB_VERSION)

TEST_NEEDS   += $(ARCHIVED_PROGRAMS) $(BUILD)/model-times
TEST_SCRIPTS += common/mk/tests/handout.sh common/mk/tests/notebook.sh common/mk/tests/deb.sh common/mk/tests/man.sh

.PHONY: bare-check wheels-check workflow-check toolkits
toolkits: $(BUILD)/grader $(BUILD)/runner $(BUILD)/confine vgpu ## test every toolkit of toolkits.tsv with the virtual GPU (TOOLKITS="12.4 13.5", KEPT=1, PAGE=1 writes its page)
	$(Q)common/mk/tests/toolkits.sh $(if $(PAGE),--page) $(TOOLKITS)

bare-check: ## run the README's commands on a minimal Debian, bootstrapped here (needs root; SUITE=bookworm RUN="make demo")
	$(Q)common/mk/tests/bare.sh "$(or $(SUITE),bookworm)" "$(or $(RUN),make demo)"

wheels-check: $(ARCHIVED_PROGRAMS) vgpu profiler ## test grading, a class and both archives with only the compiler from NVIDIA's wheels
	$(Q)CONVLAB_BUILD=$(BUILD) common/mk/tests/wheels.sh

workflow-check: handout ## run the exported GitHub workflow on a minimal Debian, where it installs its compilers itself
	$(Q)CONVLAB_BUILD=$(BUILD) grader/export/tests/workflow-check.sh "$(or $(SUITE),bookworm)"
