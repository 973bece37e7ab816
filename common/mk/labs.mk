# Labs and references: every folder labs/mN-* is a milestone, built into build/labs/mN/libconv.so.

LAB_FOLDERS := $(notdir $(wildcard labs/m[0-9]*-*))
MILESTONES  := $(sort $(foreach f,$(LAB_FOLDERS),$(firstword $(subst -, ,$(f)))))
lab_folder   = $(firstword $(filter $(1)-%,$(LAB_FOLDERS)))

LAB_BASE_CFLAGS := -std=gnu11 -g -Icommon -fPIC -shared -fopenmp -Wall -Wextra

.PHONY: $(MILESTONES) $(addprefix lab-,$(MILESTONES)) $(addprefix reference-,$(MILESTONES)) \
        reference graded-references skeletons print-lab-flags

define milestone_rules
$(1): lab-$(1) $(BUILD)/grader $(BUILD)/runner
lab-$(1): $(BUILD)/labs/$(1)/libconv.so
reference-$(1): $(BUILD)/reference/$(1)/libconv.so

$(BUILD)/labs/$(1)/libconv.so: labs/$(call lab_folder,$(1))/conv.c common/conv.h
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(LAB_BASE_CFLAGS) $$(LAB_CFLAGS) $$< -lm -o $$@

$(BUILD)/reference/$(1)/libconv.so: reference/$(call lab_folder,$(1))/conv.c common/conv.h
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(LAB_BASE_CFLAGS) $$(LAB_CFLAGS) $$< -lm -o $$@
endef
$(foreach m,$(MILESTONES),$(eval $(call milestone_rules,$(m))))

# The plain loops of m1, to be timed beside it: the same code with its functions' names moved up by one.
reference-m1: $(BUILD)/reference/m1/libconv-plain.so
$(BUILD)/reference/m1/libconv-plain.so: reference/m1-cpu-conv/conv.c common/conv.h
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -shared,$(LAB_BASE_CFLAGS)) $(LAB_CFLAGS) -c $< -o $(@D)/plain.o
	$(Q)objcopy --redefine-sym conv_forward=conv_forward_fast \
	    --redefine-sym conv_seven_loops=conv_forward $(@D)/plain.o
	$(Q)$(CC) -shared -fopenmp $(@D)/plain.o -o $@

reference: $(addprefix reference-,$(MILESTONES)) ## build the reference solutions

graded-references: $(BUILD)/grader $(BUILD)/runner reference
	$(Q)set -e; for m in $(MILESTONES); do $(BUILD)/grader $$m --reference; done
	@echo "demo: open build/report/index.html"

skeletons: ## generate the skeletons in labs/ from the references
	$(Q)for f in $(LAB_FOLDERS); do \
	    awk -f common/mk/skeleton.awk reference/$$f/conv.c > labs/$$f/conv.c; done

print-lab-flags:
	@echo $(LAB_CFLAGS)
