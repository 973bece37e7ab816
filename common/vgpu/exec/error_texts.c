#include "vgpu/exec/error_texts.h"

#include "vgpu/exec/vg_device.h"
#include "vgpu/exec/vg_module.h"

#include <string.h>

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define X(number, name, text) {number, #name, text},
#include "vgpu/api/errors.def"
#undef X
    {-1, "unrecognized error code", "unrecognized error code"},
};
enum { ERRORS = sizeof errors / sizeof *errors };

static bool asks_for_texts(const struct vg_module *m)
{
    for (size_t i = 0; i < m->ir.function_count; i++)
        if (m->ir.functions[i].builtin == IR_RUNTIME_ERROR_STRING ||
            m->ir.functions[i].builtin == IR_RUNTIME_ERROR_NAME)
            return true;
    return false;
}

static size_t text_bytes(int i)
{
    return strlen(errors[i].name) + 1 + strlen(errors[i].text) + 1;
}

enum st_code error_texts_place(struct vg_module *m, struct st_error *err)
{
    struct vg_memory *memory = &m->device->memory;
    size_t bytes = 0;
    for (int i = 0; i < ERRORS; i++)
        bytes += text_bytes(i);
    if (!asks_for_texts(m))
        return ST_OK;
    enum st_code code = vg_memory_take(memory, bytes, "of the errors' texts", &m->error_texts, err);
    if (code != ST_OK)
        return code;
    char *to = vg_memory_host(memory, m->error_texts);
    for (int i = 0; i < ERRORS; to += text_bytes(i), i++)
        memcpy(stpcpy(to, errors[i].name) + 1, errors[i].text, strlen(errors[i].text) + 1);
    vg_memory_below(memory, m->error_texts)->initialised = true;
    return ST_OK;
}

uint64_t error_text(const struct vg_module *m, int number, bool is_name)
{
    uint64_t at = m->error_texts;
    int i = 0;
    for (; i + 1 < ERRORS && errors[i].number != number; i++)
        at += text_bytes(i);
    return is_name ? at : at + strlen(errors[i].name) + 1;
}
