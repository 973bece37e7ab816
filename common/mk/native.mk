# The virtual GPU's translator of PTX to native code: a library that vgpu-device loads.
#
# It needs LLVM's headers and library, and clang; without them it is not built, and the interpreter
# runs everything.

LLVM_FOUND   := $(BUILD)/vgpu/llvm
# searched only once, because the search takes longer than the rest of a make that has nothing to build
LLVM         := $(or $(file < $(LLVM_FOUND)),$(shell common/mk/find-llvm.sh))
LLVM_CONFIG  := $(word 1,$(LLVM))
LLVM_CLANG   := $(word 2,$(LLVM))
NATIVE       := $(BUILD)/vgpu/libvgpu-native.so
NATIVE_INLINE := common/vgpu/native/lane_functions.c common/vgpu/native/access_functions.c
# the bitcode is self-contained: it needs no symbol of the program that loads the library
NATIVE_SOURCES := $(filter-out $(NATIVE_INLINE),$(wildcard common/vgpu/native/*.c)) \
                  common/base/sha256.c common/vgpu/exec/code_store.c common/vgpu/exec/rounding.c common/vgpu/ptx/ptx_types.c
NATIVE_OBJECTS := $(patsubst %.c,$(BUILD)/vgpu/native/obj/%.o,$(NATIVE_SOURCES) $(NATIVE_INLINE:.c=_bc.c))
# Never with sanitizers, because the generated code has no instrumentation.
NATIVE_COMPILE  = $(CC) $(GLOBAL_CFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden \
                  -isystem $(shell $(LLVM_CONFIG) --includedir) -MMD -MP

.PHONY: native
vgpu: native
native: $(if $(LLVM),$(NATIVE))
	$(if $(LLVM),,@echo "vgpu: no LLVM 14 to 19 with headers and clang: kernels are interpreted only \
	    (hint: apt-get install llvm-dev clang)")

$(filter-out %_bc.o,$(NATIVE_OBJECTS)): $(BUILD)/vgpu/native/obj/%.o: %.c | $(BUILD)/packages.ok
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(NATIVE_COMPILE) -c $< -o $@

# ---- bitcode of inlined functions -----------------------------------------------------------------------
# Compiled for no particular processor: each function is inlined into code for the processor on which it runs, and LLVM
# refuses to inline a function compiled for other instruction sets. Optimised twice: the second pass removes what is
# left of loops with one iteration.

INLINE_CFLAGS := -std=c11 -D_GNU_SOURCE -Icommon -I. -O2 -fwrapv -ffp-contract=off -fno-math-errno \
                 -fno-strict-aliasing -fno-slp-vectorize -fno-stack-protector -fno-asynchronous-unwind-tables \
                 -fno-ident -fdiscard-value-names -S -emit-llvm -Wno-pass-failed -Wno-psabi
INLINE        := $(BUILD)/vgpu/native

.SECONDARY: $(NATIVE_INLINE:common/vgpu/native/%.c=$(INLINE)/%.bc) # otherwise make removes them, and prints that
$(INLINE)/%.bc: common/vgpu/native/%.c
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(LLVM_CLANG) $(INLINE_CFLAGS) -MMD -MP -MF $(INLINE)/$*.d -MT $@ $< -o $(INLINE)/$*-1.ll
	$(Q)$(LLVM_CLANG) -O2 -fno-slp-vectorize -Wno-pass-failed -S -emit-llvm -x ir $(INLINE)/$*-1.ll -o $(INLINE)/$*-2.ll
	$(Q)sed -E -e '/call void @llvm\.assume\(i1 true\)/d' -e 's/"llvm\.loop\.(vectorize|interleave)\./"done./' -e 's/ noundef( |,|\))/\1/g' \
	    -e '/^attributes/s/ "[^"]*"="[^"]*"//g' -e '/^attributes/s/\{ \}/{ nounwind }/' \
	    $(INLINE)/$*-2.ll > $(INLINE)/$*.ll
	$(Q)$(LLVM_CLANG) -Xclang -disable-llvm-passes -Wno-override-module -c -emit-llvm -x ir $(INLINE)/$*.ll -o $@
	$(Q)rm $(INLINE)/$*-1.ll $(INLINE)/$*-2.ll

# The bitcode as an array of bytes in the library, `lane_functions_bc`, and its length.
$(BUILD)/vgpu/native/obj/common/vgpu/native/%_bc.o: $(INLINE)/%.bc
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)printf '%s\n' '.section .rodata' '.balign 16' '.globl $*_bc' '$*_bc:' \
	    '.incbin "$<"' '1: .balign 8' '.globl $*_bc_bytes' '$*_bc_bytes:' \
	    '.quad 1b - $*_bc' '.section .note.GNU-stack,"",@progbits' | \
	    $(CC) -x assembler -c - -o $@

$(NATIVE): $(NATIVE_OBJECTS)
	$(Q)$(SHOW)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs $^ \
	    $(shell $(LLVM_CONFIG) --link-shared --ldflags --libs) -lm -pthread -o $@
	$(Q)echo $(LLVM) > $(LLVM_FOUND)

-include $(NATIVE_OBJECTS:.o=.d) $(wildcard $(INLINE)/*.d)
