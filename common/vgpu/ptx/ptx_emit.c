/* The output of all parts of the decoder: appends instructions and problems. */
#include "vgpu/ptx/ptx_decoder.h"
#include "base/shown_path.h"

#include <stdarg.h>
#include <stdio.h>

static void report(struct problems *p, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    int n = vsnprintf(p->text + p->used, sizeof p->text - p->used, text, args);
    va_end(args);
    p->used += (size_t)n;
    if (p->used >= sizeof p->text)
        p->used = sizeof p->text - 1;
}

void decode_problem(struct decoder *d, const char *text, ...)
{
    struct problems *p = d->problems;
    if (p->count++ >= MAX_PROBLEMS || p->used == sizeof p->text - 1)
        return;
    char what[160];
    va_list args;
    va_start(args, text);
    vsnprintf(what, sizeof what, text, args);
    va_end(args);
    const char *separator = p->used ? "; " : "";
    report(p, "%sPTX line %d", separator, d->in ? d->in->line : d->function->line);
    if (d->location >= 0) {
        const struct ir_location *at = &d->module->locations[d->location];
        report(p, " (%.60s:%d)", path_base(at->file), at->line);
    }
    report(p, ": %.60s%s%.100s", d->in ? d->in->opcode : "", d->in ? ": " : "", what);
}

struct ir_insn decode_start(const struct decoder *d, enum ir_op op)
{
    return (struct ir_insn){
        .op = (uint16_t)op,
        .block = d->block,
        .location = d->location,
        .ptx_line = d->in ? d->in->line : 0,
    };
}

struct ir_insn *decode_append(struct decoder *d, const struct ir_insn *in)
{
    struct ir_insn *to = PTX_ADD(d->to, insn);
    *to = *in;
    to->index = (uint32_t)d->to->insn_count - 1;
    return to;
}

struct ir_insn *decode_emit(struct decoder *d, enum ir_op op)
{
    struct ir_insn in = decode_start(d, op);
    return decode_append(d, &in);
}

void decode_extra(struct decoder *d, struct ir_insn *in, uint32_t word)
{
    struct ir_function *f = d->to;
    if (!in->extras)
        in->extra = (uint32_t)f->extra_count;
    f->extra = ptx_grow(f->extra, f->extra_count, &f->extra_room, sizeof *f->extra);
    f->extra[f->extra_count++] = word;
    in->extras++;
}
