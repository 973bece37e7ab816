/* Translates spans: parts of a block with several accesses and without other instructions that can
 * fail, for instance from unrolled loops. (span_find.c decides what a span is.) The span starts with
 * all checks of all accesses, and the counts of shared memory. If everything is valid, only loads,
 * stores and arithmetic remain:
 *
 *     1. the accesses with the same address register are a strand: they have one shape, one
 *        alignment, and one check of the bounds, for the smallest and the largest offset. The same
 *        lanes execute all of these accesses, so a strand is valid exactly if each of its accesses
 *        is. In a partly initialised allocation, everything from the first to the last load must be
 *        marked
 *     2. the words that are read in shared memory are checked, marked, and logged, with one log
 *        entry per strand (struct race_strand); in read-only intervals (read_only_intervals.h) they
 *        are not
 *     3. the instructions are executed without checks
 *     4. if anything is invalid, the handlers of all instructions of the span are called instead */
#include "vgpu/native/spans.h"

#include "vgpu/exec/access_sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LLVMBasicBlockRef new_block(struct unit *u)
{
    return LLVMAppendBasicBlockInContext(u->context, u->code, "");
}

static LLVMValueRef merge(struct unit *u, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b,
                          LLVMBasicBlockRef from_b)
{
    if (!a || !b)
        return NULL;
    LLVMValueRef v = LLVMBuildPhi(u->b, LLVMTypeOf(a), "");
    LLVMAddIncoming(v, &a, &from_a, 1);
    LLVMAddIncoming(v, &b, &from_b, 1);
    return v;
}

static bool is_of_strand(struct unit *u, struct span *s, const struct strand *t,
                         const struct ir_insn *in)
{
    return span_may_have(u, in) && span_strand(u, s, in) == t;
}

/* ---- 1. checks -------------------------------------------------------------------------------- */

static LLVMValueRef both(struct unit *u, LLVMValueRef a, LLVMValueRef b)
{
    return a ? LLVMBuildAnd(u->b, a, b, "") : b;
}

static LLVMValueRef check_strand(struct unit *u, struct strand *s)
{
    const bool shared = is_of_shared(s->first);
    const uint32_t n = access_words(s->first);
    LLVMValueRef more = number(u, 64, (uint64_t)(s->high - s->low)), size = number(u, 32, 4 * n);
    const struct place p = access_place(u, s->first);
    const bool same = span_is_same(u, s->first);
    s->kind = span_kind(u, s->first);
    char name[64];
    s->shape = p.shape;
    s->at = LLVMBuildAdd(u->b, p.first, number(u, 64, (uint64_t)(s->low - s->first->imm)), "");
    if (shared && !p.shape)
        s->shape = access_shape_of_one(u, n);
    LLVMValueRef arguments[] = {shared ? u->warp : access_site(u, s->first),
                                s->shape,
                                s->at,
                                more,
                                size,
                                number(u, 32, s->loads)};
    if (!shared && same) {
        arguments[1] = s->at;
        arguments[2] = more;
        arguments[3] = size;
    } else if (!shared) {
        LLVMValueRef sectors[] = {s->shape, s->at};
        s->sectors = call_function(u, "native_sectors", sectors, 2);
    }
    snprintf(name, sizeof name, "native_strand_%s_%s", shared ? "shared" : "global", s->kind);
    LLVMValueRef ok = call_function(u, name, arguments, shared ? 5 : same ? 4 : 6);
    if (!shared && same && p.shape)
        ok = both(u, ok, call_function(u, "native_is_uniform", &s->shape, 1));
    return ok;
}

static bool is_same(const struct strand *s)
{
    return strcmp(s->kind, "SAME") == 0;
}

static LLVMValueRef check(struct unit *u, struct span *s)
{
    LLVMValueRef ok = NULL;
    for (uint32_t i = 0; i < s->strand_count; i++) {
        ok = both(u, ok, check_strand(u, &s->strands[i]));
        s->entries += is_of_shared(s->strands[i].first);
    }
    return ok;
}

/* ---- 2. reads of shared memory ---------------------------------------------------------------- */

static LLVMValueRef either(struct unit *u, LLVMValueRef a, LLVMValueRef b)
{
    return a ? LLVMBuildOr(u->b, a, b, "") : b;
}

/* Marks the words of a strand whose accesses have one address for all lanes, or for half of them:
 * joins the words to runs without a gap. @param from  their address with the smallest offset */
static LLVMValueRef mark_same(struct unit *u, struct span *s, const struct strand *t,
                              LLVMValueRef from)
{
    enum { MOST = 16 };
    LLVMValueRef odd = NULL;
    uint8_t *read = calloc(SPAN_FARTHEST / 2 + 4, 1); /* one for each word from t->low on */
    if (!read)
        abort();
    for (uint32_t i = s->first; i <= s->last; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (is_of_strand(u, s, t, in))
            memset(read + (in->imm - t->low) / 4, 1, access_words(in));
    }
    const uint32_t words = (uint32_t)(t->high - t->low) / 4 + access_words(t->first);
    for (uint32_t at = 0, n; at < words; at += n) {
        for (n = 0; n < MOST && at + n < words && read[at + n]; n++) {
        }
        LLVMValueRef *m = s->marks;
        LLVMValueRef arguments[] = {m[0],
                                    m[1],
                                    m[2],
                                    m[3],
                                    m[4],
                                    LLVMBuildAdd(u->b, from, number(u, 64, 4 * (uint64_t)at), ""),
                                    number(u, 32, n)};
        odd = either(u, odd, call_function(u, "native_read_words", arguments, 7));
        for (; at + n < words && !read[at + n]; n++) {
        }
    }
    free(read);
    return odd;
}

static LLVMValueRef address_in(struct unit *u, const struct strand *t, const struct ir_insn *in)
{
    return LLVMBuildAdd(u->b, t->at, number(u, 64, (uint64_t)(in->imm - t->low)), "");
}

/* The reads of a strand: their offsets from the lowest one in words, ascending. */
struct reads {
    uint32_t at[RACE_MEMBERS], count;
};

static struct reads reads_of(struct unit *u, struct span *s, const struct strand *t)
{
    struct reads r = {.count = 0};
    for (uint32_t i = s->first; i <= s->last; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (!is_of_strand(u, s, t, in))
            continue;
        const uint32_t at = (uint32_t)(in->imm - t->low) / 4;
        uint32_t k = r.count;
        for (; k > 0 && r.at[k - 1] > at; k--)
            r.at[k] = r.at[k - 1];
        r.at[k] = at;
        r.count++;
    }
    return r;
}

/* Adjacent lanes of a row: reads at most this many words apart cover those between them. */
enum { MARK_REACH = 8 };

/* Chooses reads that together cover the words of all. @return the largest distance, in words,
 * between two of them that have others between them; 0: all are chosen */
static uint32_t choose_reads(const struct reads *all, struct reads *chosen)
{
    uint32_t reach = 0;
    chosen->count = 0;
    for (uint32_t i = 0, next; i < all->count; i = next) {
        chosen->at[chosen->count++] = all->at[i];
        next = i + 1;
        while (next + 1 < all->count && all->at[next + 1] - all->at[i] <= MARK_REACH)
            next++;
        if (next > i + 1 && all->at[next] - all->at[i] > reach)
            reach = all->at[next] - all->at[i];
    }
    return reach;
}

/* @param lanes  the active lanes; of kind ANY, the number of words that follow each lane's */
static LLVMValueRef mark_read(struct unit *u, struct span *s, const struct strand *t, uint32_t at,
                              const char *kind, LLVMValueRef lanes)
{
    LLVMValueRef *m = s->marks;
    LLVMValueRef from = LLVMBuildAdd(u->b, t->at, number(u, 64, 4 * (uint64_t)at), "");
    LLVMValueRef arguments[] = {m[0], m[1], m[2], m[3], m[4], t->shape, from, lanes};
    char name[64];
    snprintf(name, sizeof name, "native_read_%s", kind);
    return call_function(u, name, arguments, 8);
}

static LLVMValueRef mark_reads(struct unit *u, struct span *s, const struct strand *t,
                               const struct reads *r, const char *kind)
{
    LLVMValueRef odd = NULL;
    for (uint32_t k = 0; k < r->count; k++)
        odd = either(u, odd, mark_read(u, s, t, r->at[k], kind, mask_of(u)));
    return odd;
}

/* Marks each lane's words one by one; the words of reads without a gap between them, as in a column
 * of a tile, at once. */
static LLVMValueRef mark_any(struct unit *u, struct span *s, const struct strand *t,
                             const struct reads *r)
{
    const uint32_t words = access_words(t->first);
    LLVMValueRef odd = NULL;
    for (uint32_t k = 0, last; k < r->count; k = last + 1) {
        for (last = k; last + 1 < r->count && r->at[last + 1] <= r->at[last] + words; last++) {
        }
        odd = either(u, odd,
                     mark_read(u, s, t, r->at[k], "ANY", number(u, 32, r->at[last] - r->at[k])));
    }
    return odd;
}

enum { ONE_ROW_READS = 8 }; /* for fewer reads, code for one row is not worth its size */

/* Marks the words of a strand whose lanes have different addresses. There are two ways for rows: with
 * a few of the reads, if these cover the others, and with one row, if both halves of the lanes read
 * it, as in products of 16x16 tiles. */
static LLVMValueRef mark_lanes(struct unit *u, struct span *s, const struct strand *t)
{
    const struct reads all = reads_of(u, s, t);
    struct reads chosen;
    const uint32_t reach = choose_reads(&all, &chosen);
    if (strcmp(t->kind, "ROWS") != 0)
        return mark_any(u, s, t, &all);
    if (!reach && all.count < ONE_ROW_READS)
        return mark_reads(u, s, t, &all, "ROWS");
    LLVMBasicBlockRef quick = new_block(u), each = new_block(u), on = new_block(u);
    LLVMValueRef arguments[] = {t->shape, number(u, 32, reach)}, odd[2];
    LLVMValueRef is_quick = reach ? call_function(u, "native_reaches", arguments, 2)
                                  : call_function(u, "native_is_one_row", arguments, 1);
    mark_likely(LLVMBuildCondBr(u->b, is_quick, quick, each), true);
    LLVMPositionBuilderAtEnd(u->b, quick);
    odd[0] = mark_reads(u, s, t, &chosen, reach ? "ROWS" : "ONE_ROW");
    LLVMBuildBr(u->b, on);
    LLVMPositionBuilderAtEnd(u->b, each);
    odd[1] = reach ? mark_any(u, s, t, &all) : mark_reads(u, s, t, &all, "ROWS");
    LLVMBuildBr(u->b, on);
    LLVMPositionBuilderAtEnd(u->b, on);
    return merge(u, odd[0], quick, odd[1], each);
}

static LLVMValueRef mark_halves(struct unit *u, struct span *s, const struct strand *t)
{
    LLVMValueRef odd = NULL;
    for (uint32_t half = 0; half < 2; half++) {
        LLVMValueRef arguments[] = {t->shape, t->at, number(u, 32, half)};
        LLVMValueRef from = call_function(u, "native_half_address", arguments, 3);
        odd = either(u, odd, mark_same(u, s, t, from));
    }
    return odd;
}

/* @return a value that is 0 if all reads are valid */
static LLVMValueRef mark(struct unit *u, struct span *s, bool read_only)
{
    LLVMValueRef odd = NULL;
    static const char *const marks[] = {"native_written_at", "native_read_at", "native_shared_set",
                                        "native_epoch"};
    for (int i = 0; i < SPAN_MARKS - 1; i++)
        s->marks[i] = call_function(u, marks[i], &u->warp, 1);
    s->marks[SPAN_MARKS - 1] = number(u, 32, !read_only);
    for (uint32_t i = 0; i < s->strand_count; i++) {
        const struct strand *t = &s->strands[i];
        if (is_of_shared(t->first))
            odd = either(u, odd,
                         is_same(t)                       ? mark_same(u, s, t, t->at)
                         : strcmp(t->kind, "HALVES") == 0 ? mark_halves(u, s, t)
                                                          : mark_lanes(u, s, t));
    }
    return odd;
}

/* @return the reads of a strand, for the log */
static const struct race_strand *describe(struct unit *u, struct span *s, const struct strand *t)
{
    struct native_strand *d = calloc(1, sizeof *d + t->count * sizeof *d->strand.of);
    if (!d)
        abort();
    d->kept.next = u->kept;
    u->kept = &d->kept;
    uint32_t step = 0;
    for (uint32_t i = s->first; i <= s->last; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (!span_may_have(u, in) || !is_of_shared(in))
            continue;
        if (span_strand(u, s, in) == t)
            d->strand.of[d->strand.count++] = (struct race_member){
                .insn = in->number, .step = step, .offset = (uint32_t)(in->imm - t->low)};
        step++;
    }
    return &d->strand;
}

static void log_reads(struct unit *u, struct span *s)
{
    LLVMValueRef arguments[] = {u->warp, number(u, 32, s->reads)};
    LLVMValueRef step = call_function(u, "native_steps", arguments, 2);
    LLVMValueRef wanted[] = {u->warp, number(u, 32, s->entries)};
    LLVMValueRef entry = call_function(u, "native_log_entries", wanted, 2);
    for (uint32_t i = 0; i < s->strand_count; i++) {
        const struct strand *t = &s->strands[i];
        if (!is_of_shared(t->first))
            continue;
        LLVMValueRef size = number(u, 32, 4 * access_words(t->first));
        LLVMValueRef of[] = {
            entry, u->warp, t->shape, t->at, size, step, address_of(u, describe(u, s, t))};
        char name[64];
        snprintf(name, sizeof name, "native_log_strand_%s", t->kind);
        call_function(u, name, of, 7);
        LLVMValueRef next = number(u, 64, sizeof(struct race_entry));
        entry = LLVMBuildGEP2(u->b, u->i8, pointer_to(u, u->i8, entry), &next, 1, "");
    }
}

static void go_if(struct unit *u, LLVMValueRef condition, LLVMBasicBlockRef yes,
                  LLVMBasicBlockRef no)
{
    mark_likely(LLVMBuildCondBr(u->b, condition, yes, no), true);
}

static LLVMValueRef is_zero(struct unit *u, LLVMValueRef v)
{
    return LLVMBuildICmp(u->b, LLVMIntEQ, v, number(u, 32, 0), "");
}

/* Checks the reads, and marks and logs them, unless the interval is read-only. */
static void enter_reads(struct unit *u, struct span *s, LLVMBasicBlockRef quick,
                        LLVMBasicBlockRef slow)
{
    LLVMBasicBlockRef read_only = new_block(u), partly = new_block(u), others = new_block(u),
                      room = new_block(u), log = new_block(u);
    go_if(u, call_function(u, "native_is_read_only", &u->warp, 1), read_only, others);
    LLVMPositionBuilderAtEnd(u->b, read_only);
    go_if(u, call_function(u, "native_is_complete", &u->warp, 1), quick, partly);
    LLVMPositionBuilderAtEnd(u->b, partly);
    go_if(u, is_zero(u, mark(u, s, true)), quick, slow);
    LLVMPositionBuilderAtEnd(u->b, others);
    LLVMValueRef arguments[] = {u->warp, number(u, 32, s->entries)};
    go_if(u, call_function(u, "native_has_room", arguments, 2), room, slow);
    LLVMPositionBuilderAtEnd(u->b, room);
    go_if(u, is_zero(u, mark(u, s, false)), log, slow);
    LLVMPositionBuilderAtEnd(u->b, log);
    log_reads(u, s);
    LLVMBuildBr(u->b, quick);
}

/* ---- counts ----------------------------------------------------------------------------------- */

static LLVMValueRef span_edge(struct unit *u, uint32_t site)
{
    LLVMValueRef at = number(u, 64, site);
    return LLVMBuildGEP2(u->b, u->i64, pointer_to(u, u->i64, u->span_edges), &at, 1, "");
}

/* Counts the bank conflicts of a strand, which are the same for each of its accesses. */
static void count_conflicts(struct unit *u, struct span *s, const struct strand *t)
{
    LLVMBasicBlockRef conflicts = new_block(u), on = new_block(u);
    LLVMValueRef shape = t->shape, has = call_function(u, "native_has_conflicts", &shape, 1);
    mark_likely(LLVMBuildCondBr(u->b, has, conflicts, on), false);
    LLVMPositionBuilderAtEnd(u->b, conflicts);
    for (uint32_t i = s->first; i <= s->last; i++) {
        const struct ir_insn *in = &u->f->insns[i];
        if (!is_of_strand(u, s, t, in))
            continue;
        LLVMValueRef arguments[] = {access_site(u, in), shape};
        call_function(u, "native_count_conflicts", arguments, 2);
    }
    LLVMBuildBr(u->b, on);
    LLVMPositionBuilderAtEnd(u->b, on);
}

/* Counts all accesses of the span, except the sectors beyond one (span_load(), span_store()). */
static void count(struct unit *u, struct span *s)
{
    uint32_t last = s->last;
    while (!span_may_have(u, &u->f->insns[last]))
        last--;
    LLVMValueRef edges[] = {span_edge(u, u->f->insns[s->first].site),
                            span_edge(u, u->f->insns[last].site + 1)};
    call_function(u, "native_count_run", edges, 2);
    for (uint32_t i = 0; i < s->strand_count; i++)
        if (is_of_shared(s->strands[i].first) && !is_same(&s->strands[i]))
            count_conflicts(u, s, &s->strands[i]);
}

/* Marks what the stores of the span write to partly initialised allocations. If a strand also
 * loads, this is not needed: its check has found everything marked. */
static void mark_stores(struct unit *u, struct span *s)
{
    for (uint32_t k = 0; k < s->strand_count; k++) {
        const struct strand *t = &s->strands[k];
        if (is_of_shared(t->first) || t->loads)
            continue;
        LLVMBasicBlockRef partly = new_block(u), on = new_block(u);
        LLVMValueRef site = access_site(u, t->first);
        LLVMValueRef whole = call_function(u, "native_is_initialised", &site, 1);
        mark_likely(LLVMBuildCondBr(u->b, whole, on, partly), true);
        LLVMPositionBuilderAtEnd(u->b, partly);
        for (uint32_t i = s->first; i <= s->last; i++) {
            const struct ir_insn *in = &u->f->insns[i];
            if (!is_of_strand(u, s, t, in))
                continue;
            LLVMValueRef arguments[] = {site, t->shape, address_in(u, t, in)};
            call_function(u, "native_mark_runs", arguments, 3);
        }
        LLVMBuildBr(u->b, on);
        LLVMPositionBuilderAtEnd(u->b, on);
    }
}

/* ---- 3. the accesses -------------------------------------------------------------------------- */

/* For an access to global memory. */
static void count_more_sectors(struct unit *u, const struct strand *t, const struct ir_insn *in)
{
    LLVMValueRef at = number(u, 64, (uint64_t)(in->imm - t->low) / 4 % SHAPE_SECTORS);
    LLVMValueRef arguments[] = {access_site(u, in),
                                LLVMBuildGEP2(u->b, u->i8, t->sectors, &at, 1, "")};
    call_function(u, "native_count_more_sectors", arguments, 2);
}

void span_load(struct unit *u, const struct ir_insn *in, LLVMValueRef words)
{
    const struct strand *t = span_strand(u, u->span, in);
    LLVMValueRef at = address_in(u, t, in);
    char name[64];
    if (!is_of_shared(in) && !is_same(t))
        count_more_sectors(u, t, in);
    LLVMValueRef memory = is_of_shared(in) ? u->span->shared : u->memory;
    LLVMValueRef arguments[] = {words, memory, at, t->shape};
    if (!is_of_shared(in) && strcmp(t->kind, "ANY") == 0)
        snprintf(name, sizeof name, "native_gather");
    else
        snprintf(name, sizeof name, "native_take_%u_%s", access_words(in), t->kind);
    call_function(u, name, arguments, is_same(t) ? 3 : 4);
}

void span_store(struct unit *u, const struct ir_insn *in, LLVMValueRef words)
{
    const struct strand *t = span_strand(u, u->span, in);
    char name[64];
    count_more_sectors(u, t, in);
    LLVMValueRef arguments[] = {words, u->memory, address_in(u, t, in), t->shape, mask_of(u)};
    snprintf(name, sizeof name, "native_put_%u_ROWS", access_words(in));
    call_function(u, name, arguments, 5);
}

/* ---- 4. the handlers -------------------------------------------------------------------------- */

/* Finds the registers that the span sets for later code, and those that it reads from earlier
 * code. */
static void find_live(struct unit *u, const struct span *s, uint64_t *out, uint64_t *in_)
{
    uint64_t *certain = calloc(u->flow->words + 1, sizeof *certain);
    if (!certain)
        abort();
    for (uint32_t i = s->first; i <= s->last; i++) {
        struct ptx_operands o;
        u->native->services->flow_operands(u->flow, &u->f->insns[i], &o);
        for (int k = 0; k < o.read_count; k++)
            if (!ptx_set_has(certain, o.reads[k]))
                ptx_set_add(in_, o.reads[k]);
        for (int k = 0; k < o.write_count; k++) {
            if (!o.certain && !ptx_set_has(certain, o.writes[k]))
                ptx_set_add(in_, o.writes[k]);
            if (o.certain)
                ptx_set_add(certain, o.writes[k]);
            ptx_set_add(out, o.writes[k]);
        }
    }
    u->native->services->flow_live(u->flow, s->last + 1, certain);
    for (size_t i = 0; i < u->flow->words; i++)
        out[i] &= certain[i];
    free(certain);
}

/* Gives each register of a plan an offset in the variable that passes a span's registers to
 * handlers. */
static struct native_saved *plan_passed(struct unit *u, const uint64_t *set)
{
    struct native_saved *plan = leave_plan_of(u, set);
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct saved_register *r = &plan->of[i];
        r->lanes = bytes;
        bytes += r->has_lanes ? VG_LANES * r->bits / 8 : 0;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->of[i].base = bytes;
        bytes += plan->of[i].has_base ? 8 : 0;
    }
    if (bytes > u->passed_bytes)
        u->passed_bytes = bytes;
    return plan;
}

/* Moves the registers between the frame and the variable by calls: separate code for each register
 * would be the largest part of a unit. */
static void run_handlers(struct unit *u, const struct span *s, const uint64_t *out,
                         const uint64_t *in_)
{
    const struct native_saved *reads = plan_passed(u, in_), *results = plan_passed(u, out);
    for (uint32_t i = 0; i < reads->count; i++)
        store_parts(u, &reads->of[i], u->passed);
    unit_run_handlers(u, s->first, s->last, u->passed, reads, results);
    for (uint32_t i = 0; i < results->count; i++)
        set_stored(u, &results->of[i], u->passed);
    bool copies = false;
    for (uint32_t i = s->first; i <= s->last; i++)
        copies |= is_followed_load(&u->f->insns[i]);
    if (copies)
        leave_if_copying(u, s->last + 1);
}

/* ---- translation of a span ------------------------------------------------------------------- */

static void translate_instructions(struct unit *u, struct span *s)
{
    u->span = s;
    if (s->reads)
        s->shared = call_function(u, "native_shared", &u->warp, 1);
    for (uint32_t i = s->first; i <= s->last; i++)
        unit_translate_one(u, &u->f->insns[i]);
    u->span = NULL;
}

void span_translate(struct unit *u, struct span *s)
{
    uint64_t *out = calloc(u->flow->words + 1, sizeof *out),
             *in_ = calloc(u->flow->words + 1, sizeof *in_);
    if (!out || !in_)
        abort();
    find_live(u, s, out, in_);
    LLVMBasicBlockRef quick = new_block(u), slow = new_block(u), on = new_block(u);
    LLVMValueRef ok = check(u, s);
    struct known *before = known_copy(u);
    LLVMBasicBlockRef valid = s->reads ? new_block(u) : quick;
    mark_likely(LLVMBuildCondBr(u->b, ok, valid, slow), true);
    if (s->reads) {
        LLVMPositionBuilderAtEnd(u->b, valid);
        enter_reads(u, s, quick, slow);
    }

    LLVMPositionBuilderAtEnd(u->b, quick);
    count(u, s);
    mark_stores(u, s);
    translate_instructions(u, s);
    struct known *quickly = known_copy(u);
    quick = LLVMGetInsertBlock(u->b);
    LLVMBuildBr(u->b, on);

    known_set(u, before);
    LLVMPositionBuilderAtEnd(u->b, slow);
    run_handlers(u, s, out, in_);
    struct known *slowly = known_copy(u);
    slow = LLVMGetInsertBlock(u->b);
    LLVMBuildBr(u->b, on);

    LLVMPositionBuilderAtEnd(u->b, on);
    known_set(u, before);
    for (uint32_t i = 0; i < u->f->slot_count; i++) {
        struct held *h = &u->held[i];
        if (!ptx_set_has(s->written, i) || h->constant)
            continue;
        const bool lives = ptx_set_has(out, i);
        h->base = lives ? merge(u, quickly[i].base, quick, slowly[i].base, slow) : NULL;
        h->lanes = lives ? merge(u, quickly[i].lanes, quick, slowly[i].lanes, slow) : NULL;
    }
    known_free(before);
    known_free(quickly);
    known_free(slowly);
    free(out);
    free(in_);
}
