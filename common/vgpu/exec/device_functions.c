/* Functions called by device code that are not PTX: printf, assert, malloc, free. */
#include "vgpu/exec/device_functions.h"

#include "vgpu/exec/device_runtime.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/lane_call.h"
#include "vgpu/exec/printed.h"
#include "vgpu/exec/vg_warp.h"

#include <stdlib.h>
#include <string.h>

/* Reads a text from device memory, cut at the end of its allocation. */
static size_t text_at(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t at, char *to,
                      size_t room)
{
    size_t n = 0;
    while (n + 1 < room) {
        const char *p = lane_memory(w, in, lane, at + n, 1, false);
        if (!p || !*p)
            break;
        to[n++] = *p;
    }
    to[n] = '\0';
    return n;
}

/* Prints one conversion "%...X" with its flags, width and precision. The value comes from the
 * lane's argument buffer, where each argument has its natural alignment and at least 4 bytes. */
static const char *print_one(struct vg_warp *w, const struct ir_insn *in, int lane, const char *p,
                             uint64_t *arguments, uint64_t *count)
{
    char spec[48], out[1100], text[1024];
    size_t n = 0;
    int longs = 0;
    spec[n++] = *p++;
    while (*p && strchr("-+ #0123456789.*hljztL", *p) && n < 30) {
        if (*p == '*') {
            int width = 0;
            const char *from = lane_memory(w, in, lane, *arguments, 4, false);
            if (!from)
                return NULL;
            memcpy(&width, from, 4);
            *arguments += 4;
            ++*count;
            n += (size_t)snprintf(spec + n, sizeof spec - n, "%d", width % 1000);
        } else if (*p == 'l' || *p == 'j' || *p == 'z' || *p == 't') {
            longs++;
        } else if (*p != 'h' && *p != 'L') {
            spec[n++] = *p;
        }
        p++;
    }
    char kind = *p ? *p : '%';
    if (kind == '%') {
        vg_print(w->block, "%", 1);
        return *p ? p + 1 : p;
    }
    bool wide = strchr("feEgGaAFsp", kind) || longs;
    if (wide)
        *arguments = (*arguments + 7) & ~UINT64_C(7);
    const char *from = lane_memory(w, in, lane, *arguments, wide ? 8 : 4, false);
    if (!from)
        return NULL;
    uint64_t bits = 0;
    memcpy(&bits, from, wide ? 8 : 4);
    *arguments += wide ? 8 : 4;
    ++*count;
    int length = 0;
    spec[n] = '\0';
    if (strchr("feEgGaAF", kind)) {
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(spec + n, sizeof spec - n, "%c", kind);
        length = snprintf(out, sizeof out, spec, value);
    } else if (kind == 's') {
        text_at(w, in, lane, bits, text, sizeof text);
        snprintf(spec + n, sizeof spec - n, "s");
        length = snprintf(out, sizeof out, spec, text);
    } else if (kind == 'p') {
        length = snprintf(out, sizeof out, "0x%llx", (unsigned long long)bits);
    } else if (kind == 'c') {
        snprintf(spec + n, sizeof spec - n, "c");
        length = snprintf(out, sizeof out, spec, (int)bits);
    } else if (strchr("di", kind)) {
        snprintf(spec + n, sizeof spec - n, "lld");
        length = snprintf(out, sizeof out, spec, wide ? (long long)bits : (long long)(int32_t)bits);
    } else if (strchr("uxXo", kind)) {
        snprintf(spec + n, sizeof spec - n, "ll%c", kind);
        length = snprintf(out, sizeof out, spec, (unsigned long long)bits);
    } else {
        length = snprintf(out, sizeof out, "%%%c", kind);
    }
    if (length > 0)
        vg_print(w->block, out, (size_t)length < sizeof out ? (size_t)length : sizeof out - 1);
    return p + 1;
}

/* @return the number of arguments, as printf() in a kernel does. */
static uint64_t print_formatted(struct vg_warp *w, const struct ir_insn *in, int lane,
                                uint64_t format_at, uint64_t arguments_at)
{
    char format[2048];
    uint64_t count = 0;
    text_at(w, in, lane, format_at, format, sizeof format);
    for (const char *p = format; p && *p;) {
        size_t plain = strcspn(p, "%");
        vg_print(w->block, p, plain);
        p += plain;
        if (*p)
            p = print_one(w, in, lane, p, &arguments_at, &count);
    }
    return count;
}

static void assert_failed(struct vg_warp *w, const struct ir_insn *in, int lane)
{
    char what[256], file[256], function[256];
    text_at(w, in, lane, call_argument(w, in, lane, 0, 8), what, sizeof what);
    text_at(w, in, lane, call_argument(w, in, lane, 1, 8), file, sizeof file);
    text_at(w, in, lane, call_argument(w, in, lane, 3, 8), function, sizeof function);
    uint32_t line = (uint32_t)call_argument(w, in, lane, 2, 4);
    const struct vg_launch *launch = w->block->launch;
    const struct vg_dim t = vg_place(launch->block, w->index * VG_LANES + (uint32_t)lane);
    char out[1200];
    int n = snprintf(out, sizeof out,
                     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                     file, line, function, w->block->id[0], w->block->id[1], w->block->id[2], t.x,
                     t.y, t.z, what);
    vg_print(w->block, out, (size_t)n < sizeof out ? (size_t)n : sizeof out - 1);
    vg_find(w, in, VG_FAULT_ASSERT, lane, 0, 0, false, "assertion `%s` failed", what);
}

void vg_builtin(struct vg_warp *w, const struct ir_insn *in, enum ir_builtin which)
{
    for (uint32_t left = w->mask; left && !w->block->stop; left &= left - 1) {
        int lane = __builtin_ctz(left);
        switch (which) {
        case IR_VPRINTF:
            call_result_set(w, in, lane,
                            print_formatted(w, in, lane, call_argument(w, in, lane, 0, 8),
                                            call_argument(w, in, lane, 1, 8)),
                            4);
            break;
        case IR_ASSERTFAIL:
            assert_failed(w, in, lane);
            break;
        case IR_MALLOC:
            call_result_set(w, in, lane, heap_take(w, call_argument(w, in, lane, 0, 8)), 8);
            break;
        case IR_FREE:
            heap_free(w, in, lane, call_argument(w, in, lane, 0, 8));
            break;
        case IR_NOT_BUILTIN:
            break;
        default:
            device_runtime_call(w, in, lane, which);
            break;
        }
    }
}
