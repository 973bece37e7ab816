/** @file
 * The native engine's interface to the executor: it translates a function's code to machine code
 * (common/vgpu/native). The engine is a separate library, loaded when the first kernel has executed
 * often; without it the interpreter executes everything.
 */
#pragma once

#include "vgpu/ptx/ptx_flow.h"

struct vg_device;
struct vg_handlers;
struct vg_module;
struct vg_worker;

/** Executes from @p at on, for the lanes of the running fragment. @return the instruction at which
 * the interpreter resumes, or NULL if the warp cannot continue now; @p at if nothing was executed.
 * @param room  is w->saved */
typedef const struct ir_insn *(*vg_native_code)(const struct ir_insn *at, struct vg_warp *w,
                                                char *room);

/** Functions of the executor that native code and the translator call. */
struct vg_services {
    const struct ir_insn *(*split)(struct vg_warp *w, const struct ir_insn *in, uint32_t taken);
    void (*wait)(struct vg_warp *w, const struct ir_insn *in, uint32_t lanes);
    const struct ir_insn *(*meet)(struct vg_warp *w, const struct ir_insn *in);
    const struct ir_insn *(*yield)(struct vg_warp *w, const struct ir_insn *resume);
    const struct ir_insn *(*resume)(struct vg_warp *w, const struct ir_insn *in);
    const struct ir_row *rows;
    struct ptx_flow *(*flow_new)(const struct ir_function *f);
    void (*flow_free)(struct ptx_flow *flow);
    void (*flow_live)(const struct ptx_flow *flow, uint32_t index, uint64_t *set);
    void (*flow_operands)(const struct ptx_flow *flow, const struct ir_insn *in,
                          struct ptx_operands *to);
    size_t (*flow_next)(const struct ir_function *f, uint32_t index, uint32_t *to);
};

struct vg_translator {
    /** @return "LLVM 14.0.6" */
    const char *(*version)(void);
    /** From now on, stores code in memory shared with other processes, and takes code from there
     * (code_store.h). Call it before open(). @param memory  @p bytes, initially zero; it must live
     * as long as the translator */
    void (*share)(void *memory, size_t bytes);
    /** @param target  instruction set: base, avx2, avx512 @return a translator's state, or NULL. */
    void *(*open)(const char *target, const struct vg_handlers *handlers,
                  const struct vg_services *services);
    /** @return code that can be entered at these instructions of @p f; NULL if it would not be
     * useful. Only one thread calls this at a time. @param kinds  by site: enum vg_site_kind;
     * may be NULL. */
    vg_native_code (*translate)(void *state, const struct ir_function *f, const uint32_t *entries,
                                size_t entry_count, const uint8_t *kinds);
    /** @return whether a thread is executing translate(). */
    bool (*is_busy)(void);
    /** Called before a worker executes native code. */
    void (*begin)(struct vg_worker *worker);
    /** Writes the registers that native code has saved to the frame of the running fragment. */
    void (*settle)(struct vg_warp *w);
    /** Frees code that will not be used again. */
    void (*drop)(void *state, vg_native_code code);
    void (*close)(void *state);
};

/** Open and close a device's engine; its thread may outlive the device. */
void vg_engine_open(struct vg_device *d);
void vg_engine_close(struct vg_device *d);
/** @return whether the translator is making the first code of one of the module's functions. */
bool vg_engine_translates(const struct vg_device *d, const struct vg_module *m);
/** Creates the entries of a module, where native code may begin, unless the engine is the
 * interpreter.
 * @return false: out of memory. */
bool vg_entries_make(struct vg_module *m);
/** @return bytes that suffice to save the registers of a function. */
static inline size_t vg_saved_bytes(const struct ir_function *f)
{
    return f->frame_bytes + 16 * f->slot_count;
}
/** Drops a module's native code, which must not be running. Frees the rest with @p free_module:
 * now, or after the current translation, which may be reading the module. */
void vg_entries_free(struct vg_module *m, void (*free_module)(struct vg_module *m));
