# Tests: one Criterion program per module with a folder tests/, and a summary line at the end.

TEST_MODULES  := $(foreach m,$(MODULES),$(if $(wildcard $(m)/tests/*.c),$(m)))
test_program   = $(BUILD)/tests/$(subst /,-,$(1))
TEST_PROGRAMS := $(foreach m,$(TEST_MODULES),$(call test_program,$(m)))

define test_rules
$(call test_program,$(1)): $(call objects,$(wildcard $(1)/tests/*.c)) $(MODULE_LIBS)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(LINK) $$^ -lcriterion $(LIBS) -o $$@
endef
$(foreach m,$(TEST_MODULES),$(eval $(call test_rules,$(m))))

.PHONY: test check
test: ## set up, then run all tests
	@common/mk/setup.sh install build test docs
	$(Q)$(MAKE) --no-print-directory check

check: $(TEST_PROGRAMS) $(PROGRAMS) reference $(TEST_NEEDS) ## run all tests without setting up
	$(Q)common/mk/run-tests.sh $(BUILD) $(TEST_PROGRAMS) $(TEST_SCRIPTS)
