/* The log of a proof that follows one output. */
#include "vgpu/exec/proof_log.h"

#include "base/array_room.h"
#include "vgpu/exec/block_order.h"

#include <stdlib.h>
#include <string.h>

/* 8 million entries of 64 bytes: about two million products. */
enum { MOST_ENTRIES = 1 << 23, FIRST_ROOM = 1 << 12 };

/* ---- entries --------------------------------------------------------------------------------- */

static bool make_room(struct proof_log *log)
{
    if (log->count < log->room)
        return true;
    const size_t room = log->room ? 2 * log->room : FIRST_ROOM;
    struct proof_log_entry *more =
        room <= MOST_ENTRIES ? realloc(log->entries, room * sizeof *more) : NULL;
    if (!more) {
        log->full = true;
        return false;
    }
    log->entries = more;
    log->room = room;
    return true;
}

/* Adds an entry. @return its number, or 0 if the log is full. */
static uint32_t add(const struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                    enum vg_proof_step_kind kind)
{
    struct proof_log *log = proof_of(w)->log;
    if (!make_room(log))
        return 0;
    log->entries[log->count] = (struct proof_log_entry){.in = in,
                                                        .block = (uint32_t)w->block->place,
                                                        .thread = w->index * VG_LANES + lane,
                                                        .launch = (uint32_t)log->launch_count - 1,
                                                        .kind = (uint8_t)kind};
    return (uint32_t)log->count++;
}

void proof_log_load(const struct vg_warp *w, const struct ir_insn *in, int lane,
                    struct proof_place at, struct origin *o)
{
    const uint32_t number = add(w, in, (uint32_t)lane, VG_PROOF_LOAD);
    if (!number)
        return;
    struct proof_log_entry *e = &proof_of(w)->log->entries[number];
    e->address = at.address;
    e->space = (uint8_t)at.space;
    e->operand[0].from = o->step;
    e->element = o->low && way_is_raw(o->way) ? o->low : 0;
    o->step = number;
}

void proof_log_store(const struct vg_warp *w, const struct ir_insn *in, int lane,
                     struct proof_place at, float value, struct origin *o)
{
    const uint32_t number = add(w, in, (uint32_t)lane, VG_PROOF_STORE);
    if (!number)
        return;
    struct proof_log_entry *e = &proof_of(w)->log->entries[number];
    e->address = at.address;
    e->space = (uint8_t)at.space;
    e->operand[0] = (struct proof_log_operand){value, o->step};
    o->step = number;
}

uint32_t proof_log_join(const struct vg_warp *w, const struct ir_insn *in, int lane,
                        struct proof_place at, struct proof_log_operand old,
                        struct proof_log_operand by)
{
    const uint32_t number = add(w, in, (uint32_t)lane, VG_PROOF_ATOMIC_ADD);
    if (!number)
        return 0;
    struct proof_log_entry *e = &proof_of(w)->log->entries[number];
    e->address = at.address;
    e->space = (uint8_t)at.space;
    e->operand[0] = old;
    e->operand[1] = by;
    return number;
}

uint32_t proof_log_compute(const struct vg_warp *w, const struct ir_insn *in, uint32_t lane,
                           enum vg_proof_step_kind kind, const struct proof_log_operand operand[3])
{
    const uint32_t number = add(w, in, lane, kind);
    if (number)
        memcpy(proof_of(w)->log->entries[number].operand, operand, 3 * sizeof *operand);
    return number;
}

/* ---- launches -------------------------------------------------------------------------------- */

bool proof_log_launch(struct proof *p, const struct vg_launch *l)
{
    struct proof_log *log = p->log;
    if (!log)
        return true;
    if (!ARRAY_ROOM(log->launches, log->launch_count))
        return false;
    log->launches[log->launch_count++] = (struct proof_log_launch){l->kernel, l->grid, l->block};
    return true;
}

void proof_log_clear(struct proof_log *log)
{
    log->count = 1;
    log->launch_count = 0;
    log->copied = 0;
    log->full = false;
    log->found_count = 0;
}

void proof_log_free(struct proof_log *log)
{
    if (!log)
        return;
    free(log->entries);
    free(log->launches);
    free(log);
}

/* ---- reading the log ------------------------------------------------------------------------- */

enum st_code vg_proof_follow(struct vg_device *d, size_t output, struct st_error *err)
{
    struct proof *p = d->proof;
    if (!p->log && !(p->log = calloc(1, sizeof *p->log)))
        return st_fail(err, ST_NO_MEMORY, "out of memory for a log");
    p->log->output = output;
    proof_log_clear(p->log);
    return ST_OK;
}

static uint64_t output_address(const struct proof *p)
{
    return p->tensor[VG_PROOF_Y].address + 4 * p->log->output;
}

void proof_log_copied(struct proof *p, uint64_t to, size_t bytes)
{
    if (p->log && output_address(p) - to < bytes)
        p->log->copied = p->global[(output_address(p) - VG_GLOBAL_BASE) / 4].step;
}

static bool writes_output(const struct proof *p, const struct proof_log_entry *e)
{
    return (e->kind == VG_PROOF_STORE || e->kind == VG_PROOF_ATOMIC_ADD) &&
           e->space == PTX_SPACE_GLOBAL &&
           (e->address == output_address(p) || e == &p->log->entries[p->log->copied]);
}

/* Marks the entries from which the output was made. One pass is enough, since entries depend only
 * on earlier entries. */
static void mark_needed(struct proof *p)
{
    struct proof_log *log = p->log;
    for (size_t i = log->count; i-- > 1;) {
        struct proof_log_entry *e = &log->entries[i];
        e->needed |= writes_output(p, e);
        for (int k = 0; k < 3 && e->needed; k++)
            log->entries[e->operand[k].from].needed = true;
    }
}

/* @return the index of an element in x or k, or -1 */
static long index_of(const struct proof *p, enum vg_proof_tensor which,
                     const struct proof_log_entry *e)
{
    const struct proof_tensor *t = &p->tensor[which];
    if (e->space == PTX_SPACE_GLOBAL && e->address - t->address < t->bytes)
        return (long)((e->address - t->address) / 4);
    for (size_t i = 0; t->elements && i < t->bytes / 4; i++)
        if (t->elements[i] == (e->element & FIELD_MASK))
            return (long)i;
    return -1;
}

static const char *const space_words[] = {
    [PTX_SPACE_GENERIC] = "generic", [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_SHARED] = "shared",
    [PTX_SPACE_LOCAL] = "local",     [PTX_SPACE_CONST] = "const",   [PTX_SPACE_PARAM] = "param",
    [PTX_SPACE_REG] = "reg"};

static void describe(const struct proof *p, const struct proof_log_entry *e,
                     struct vg_proof_step *to)
{
    const struct proof_log_launch *l = &p->log->launches[e->launch];
    const struct ir_module *module = &l->kernel->module->ir;
    *to = (struct vg_proof_step){.kind = (enum vg_proof_step_kind)e->kind,
                                 .kernel = l->kernel->name,
                                 .space = space_words[e->space],
                                 .address = e->address,
                                 .index = -1,
                                 .launch = e->launch};
    to->block = vg_place(l->grid, e->block);
    to->thread = vg_place(l->block, e->thread);
    to->writes_output = writes_output(p, e);
    to->file = "";
    if (e->in->location >= 0) {
        to->file = module->locations[e->in->location].file;
        to->line = module->locations[e->in->location].line;
    }
    for (int i = 0; i < 3; i++) {
        to->value[i] = e->operand[i].value;
        to->from[i] = e->operand[i].from;
    }
    for (int which = VG_PROOF_X; e->element && to->index < 0 && which <= VG_PROOF_K; which++) {
        to->tensor = (enum vg_proof_tensor)which;
        to->index = index_of(p, to->tensor, e);
    }
}

bool vg_proof_steps(struct vg_device *d, vg_proof_take *take, void *context)
{
    struct proof *p = d->proof;
    struct proof_log *log = p->log;
    if (!log)
        return true;
    if (log->entries)
        log->entries[0] = (struct proof_log_entry){0};
    mark_needed(p);
    for (size_t i = 1; i < log->count; i++) {
        struct vg_proof_step step;
        if (!log->entries[i].needed)
            continue;
        describe(p, &log->entries[i], &step);
        step.number = (uint32_t)i;
        take(context, &step);
    }
    return !log->full;
}

static uint32_t kept(const struct proof_recent *r)
{
    return r->count < PROOF_RECENT ? r->count : PROOF_RECENT;
}

static const char *word_of(const struct ir_insn *in)
{
    switch (in->op) {
    case IR_LD:
        return "loads";
    case IR_ST:
        return "stores";
    case IR_ATOM:
    case IR_ATOM_VECTOR:
        return "changes atomically";
    case IR_BAR:
    case IR_BAR_RED:
        return "reaches the barrier";
    case IR_BAR_WARP:
        return "reaches __syncwarp()";
    default:
        return "copies, or waits for a copy";
    }
}

bool vg_proof_recent(const struct vg_device *d, size_t i, struct vg_proof_recent *to)
{
    const struct proof_log *log = d->proof->log;
    size_t thread = 0; /* the list has two threads for each finding */
    while (log && thread < 2 * (size_t)log->found_count &&
           i >= kept(&log->found[thread / 2].recent[thread % 2])) {
        i -= kept(&log->found[thread / 2].recent[thread % 2]);
        thread++;
    }
    if (!log || thread == 2 * (size_t)log->found_count)
        return false;
    const struct proof_found *found = &log->found[thread / 2];
    const struct proof_recent *r = &found->recent[thread % 2];
    const struct proof_recent_step *s = &r->step[(r->count - kept(r) + i) % PROOF_RECENT];
    *to = (struct vg_proof_recent){.finding = (int)(thread / 2),
                                   .other = thread % 2,
                                   .what = word_of(s->in),
                                   .file = "",
                                   .block = found->block,
                                   .thread = found->thread[thread % 2],
                                   .space = s->space ? space_words[s->space] : "",
                                   .address = s->address};
    if (s->in->location >= 0) {
        to->file = found->module->ir.locations[s->in->location].file;
        to->line = found->module->ir.locations[s->in->location].line;
    }
    return true;
}
