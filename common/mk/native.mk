# The virtual GPU's translator of PTX to native code: a library that vgpu-device loads.
#
# It needs LLVM's headers and library, and clang; without them it is not built, and the interpreter
# runs everything.

LLVM         := $(shell common/mk/find-llvm.sh)
LLVM_CONFIG  := $(word 1,$(LLVM))
LLVM_CLANG   := $(word 2,$(LLVM))
NATIVE       := $(BUILD)/vgpu/libvgpu-native.so
NATIVE_LANES := common/vgpu/native/lane_functions.c
# (what the bitcode calls, it carries: it needs no symbol of the program that loads it)
NATIVE_SOURCES := $(filter-out $(NATIVE_LANES),$(wildcard common/vgpu/native/*.c)) \
                  common/vgpu/exec/rounding.c common/vgpu/ptx/ptx_types.c
NATIVE_OBJECTS := $(patsubst %.c,$(BUILD)/vgpu/native/obj/%.o,$(NATIVE_SOURCES) $(NATIVE_LANES:.c=_bc.c))
# Never with sanitizers: the code that it makes has none.
NATIVE_COMPILE  = $(CC) $(GLOBAL_CFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden \
                  -isystem $(shell $(LLVM_CONFIG) --includedir) -MMD -MP

.PHONY: native
vgpu: native
native: $(if $(LLVM),$(NATIVE))
	$(if $(LLVM),,@echo "vgpu: no LLVM 14 to 19 with headers and clang: kernels are interpreted only \
	    (hint: apt-get install llvm-dev clang)")

$(filter-out %_bc.o,$(NATIVE_OBJECTS)): $(BUILD)/vgpu/native/obj/%.o: %.c | $(BUILD)/packages.ok
	$(Q)mkdir -p $(@D)
	$(Q)$(NATIVE_COMPILE) -c $< -o $@

# ---- lane functions as bitcode ----------------------------------------------------------------------
# For no particular processor: a function is inlined into code for the one that it runs on, which one
# that asks for other instructions cannot be. Optimised twice: what is left of a loop of one pass goes
# in the second time.

LANES_CFLAGS := -std=c11 -D_GNU_SOURCE -Icommon -I. -O2 -fwrapv -ffp-contract=off -fno-math-errno \
                -fno-strict-aliasing -fno-slp-vectorize -fno-stack-protector -fno-asynchronous-unwind-tables \
                -fno-ident -fdiscard-value-names -S -emit-llvm -Wno-pass-failed
LANES        := $(BUILD)/vgpu/native/lane_functions

$(LANES).bc: $(NATIVE_LANES)
	$(Q)mkdir -p $(@D)
	$(Q)$(LLVM_CLANG) $(LANES_CFLAGS) -MMD -MP -MF $(LANES).d -MT $@ $< -o $(LANES)-1.ll
	$(Q)$(LLVM_CLANG) -O2 -fno-slp-vectorize -Wno-pass-failed -S -emit-llvm -x ir $(LANES)-1.ll -o $(LANES)-2.ll
	$(Q)sed -E -e '/call void @llvm\.assume\(i1 true\)/d' -e 's/ noundef( |,|\))/\1/g' \
	    -e '/^attributes/s/ "[^"]*"="[^"]*"//g' -e '/^attributes/s/\{ \}/{ nounwind }/' \
	    $(LANES)-2.ll > $(LANES).ll
	$(Q)$(LLVM_CLANG) -Xclang -disable-llvm-passes -Wno-override-module -c -emit-llvm -x ir $(LANES).ll -o $@
	$(Q)rm $(LANES)-1.ll $(LANES)-2.ll

# The bitcode as bytes of the library: `lane_functions_bc`, and how many.
$(BUILD)/vgpu/native/obj/$(NATIVE_LANES:.c=_bc.o): $(LANES).bc
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' '.section .rodata' '.balign 16' '.globl lane_functions_bc' 'lane_functions_bc:' \
	    '.incbin "$<"' '1: .balign 8' '.globl lane_functions_bc_bytes' 'lane_functions_bc_bytes:' \
	    '.quad 1b - lane_functions_bc' '.section .note.GNU-stack,"",@progbits' | \
	    $(CC) -x assembler -c - -o $@

$(NATIVE): $(NATIVE_OBJECTS)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs $^ \
	    $(shell $(LLVM_CONFIG) --link-shared --ldflags --libs) -lm -pthread -o $@

-include $(NATIVE_OBJECTS:.o=.d) $(LANES).d
