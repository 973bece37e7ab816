/* The library's interface: vg_translator. */
#include "vgpu/native/unit.h"

#include "vgpu/native/machine_code.h"
#include "vgpu/native/shapes.h"

#include <llvm/Config/llvm-config.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char *version(void)
{
    return "LLVM " LLVM_VERSION_STRING;
}

static struct code_store store;
static atomic_int busy;

static void share(void *memory, size_t bytes)
{
    store = (struct code_store){memory, bytes};
}

static void *open_native(const char *target, const struct vg_handlers *handlers,
                         const struct vg_services *services)
{
    if (strcmp(target, "base") == 0) /* vectors narrower than the interpreter's are useless */
        return NULL;
    struct native *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    *n = (struct native){handlers, services, target, machine_open(target, &store)};
    if (n->machine)
        return n;
    free(n);
    return NULL;
}

static vg_native_code translate(void *state, const struct ir_function *f, const uint32_t *entries,
                                size_t entry_count, const uint8_t *kinds)
{
    atomic_fetch_add(&busy, 1);
    const vg_native_code code = machine_translate(state, f, entries, entry_count, kinds);
    atomic_fetch_sub(&busy, 1);
    return code;
}

static bool is_busy(void)
{
    return atomic_load(&busy) > 0;
}

static void drop(void *state, vg_native_code code)
{
    const struct native *n = state;
    machine_drop(n->machine, code);
}

static void close_native(void *state)
{
    struct native *n = state;
    machine_close(n->machine);
    free(n);
}

extern const struct vg_translator vg_translator;
__attribute__((visibility("default"))) const struct vg_translator vg_translator = {
    version,      share,        open_native, translate,   is_busy,
    shapes_begin, saved_settle, drop,        close_native};
