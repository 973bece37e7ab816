/** @file
 * Turns units into machine code, with LLVM.
 */
#pragma once

#include "vgpu/exec/code_store.h"
#include "vgpu/native/unit.h"

struct native_machine *machine_open(const char *target, const struct code_store *store);
void machine_close(struct native_machine *machine);
/** See vg_translator.translate. */
vg_native_code machine_translate(const struct native *native, const struct ir_function *f,
                                 const uint32_t *entries, size_t entry_count, const uint8_t *kinds);
void machine_drop(struct native_machine *machine, vg_native_code code);
