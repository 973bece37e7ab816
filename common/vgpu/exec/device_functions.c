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

/* A conversion of printf() in a kernel: flags, width, precision, size (h, l or ll), type. */
struct conversion {
    char start[32]; /* "%", flags, width and precision */
    bool star;      /* the width is an argument, whose place is the end of `start` */
    char after[16]; /* what follows the argument's place */
    char size[3], type;
};

/* Reads a conversion. @return the first character after it; NULL: it is none that a GPU knows, such
 * as "%zu" and "%.*f", which a GPU prints as they are (measured on an H200). */
static const char *conversion_read(struct conversion *c, const char *p)
{
    size_t n = 0, m = 0;
    *c = (struct conversion){.start = "%"};
    for (n = 1, p++; *p && strchr("-+ #0", *p) && n < 10;)
        c->start[n++] = *p++;
    if ((c->star = *p == '*'))
        p++;
    while (!c->star && *p >= '0' && *p <= '9' && n < 14)
        c->start[n++] = *p++;
    if (*p == '.') {
        c->after[m++] = *p++;
        while (*p >= '0' && *p <= '9' && m < 5)
            c->after[m++] = *p++;
    }
    for (n = 0; n < 2 && ((*p == 'h' && n == 0) || (*p == 'l' && (n == 0 || *c->size == 'l')));)
        c->size[n++] = *p++;
    c->type = *p;
    return *p && strchr(*c->size ? "diouxXfFeEgGaA" : "diouxXfFeEgGaAcsp%", *p) ? p + 1 : NULL;
}

/* Reads an argument from the lane's buffer, where each has its natural alignment and at least 4
 * bytes. */
static bool argument_read(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t *at,
                          uint32_t bytes, void *to)
{
    *at = (*at + bytes - 1) & ~(uint64_t)(bytes - 1);
    const char *from = lane_memory(w, in, lane, *at, bytes, false);
    *at += bytes;
    if (from)
        memcpy(to, from, bytes);
    return from != NULL;
}

/* Writes an integer with the conversion's size. */
static int print_integer(char *out, size_t room, char *spec, size_t n, const struct conversion *c,
                         uint64_t bits)
{
    const bool is_signed = strchr("di", c->type) != NULL;
    const long long value = *c->size == 'l'   ? (long long)bits
                            : *c->size == 'h' ? is_signed ? (short)bits : (unsigned short)bits
                            : is_signed       ? (long long)(int32_t)bits
                                              : (long long)(uint32_t)bits;
    sprintf(spec + n, "ll%c", c->type);
    return snprintf(out, room, spec, value);
}

/* Prints one conversion. @return the text after it, or NULL after a finding */
static const char *print_one(struct vg_warp *w, const struct ir_insn *in, int lane, const char *p,
                             uint64_t *arguments, uint64_t *count)
{
    struct conversion c;
    char spec[96], out[1100], text[1024];
    const char *const next = conversion_read(&c, p);
    if (!next || c.type == '%') {
        vg_print(w->block, "%", 1);
        return next ? next : p + 1;
    }
    int width = 0, length = 0;
    if (c.star && !argument_read(w, in, lane, arguments, 4, &width))
        return NULL;
    *count += 1 + (uint64_t)c.star;
    const size_t n = (size_t)(c.star ? snprintf(spec, 64, "%s%d%s", c.start, width % 1000, c.after)
                                     : snprintf(spec, 64, "%s%s", c.start, c.after));
    const bool is_float = strchr("fFeEgGaA", c.type) != NULL;
    uint64_t bits = 0;
    if (!argument_read(w, in, lane, arguments,
                       is_float || strchr("sp", c.type) || *c.size == 'l' ? 8 : 4, &bits))
        return NULL;
    if (strchr("diouxX", c.type)) {
        length = print_integer(out, sizeof out, spec, n, &c, bits);
    } else {
        double value;
        memcpy(&value, &bits, sizeof value);
        sprintf(spec + n, "%c", c.type);
        if (c.type == 's' && bits)
            text_at(w, in, lane, bits, text, sizeof text);
        length = is_float        ? snprintf(out, sizeof out, spec, value)
                 : c.type == 'p' ? snprintf(out, sizeof out, spec, (void *)(uintptr_t)bits)
                 : c.type == 'c' ? snprintf(out, sizeof out, spec, (int)bits)
                                 : snprintf(out, sizeof out, spec, bits ? text : "(null)");
    }
    if (length > 0)
        vg_print(w->block, out, (size_t)length < sizeof out ? (size_t)length : sizeof out - 1);
    return next;
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
