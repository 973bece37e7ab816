/* Decides what a span is: where it begins and ends (span_find()), which accesses it may have
 * (span_may_have()), and which of them form a strand (joins()). spans.c translates it. */
#include "vgpu/native/spans.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST = 400,             /* instructions of a span */
    MOST_READS = RACE_MEMBERS, /* reads of shared memory in a span */
};

/* @return whether an access loads one word per lane from any addresses, by one gather
 * instruction. */
static bool is_gathered(struct unit *u, const struct ir_insn *in)
{
    return access_is_known(u, in) && !access_is(u, in, VG_SITE_ROWS) && access_words(in) == 1 &&
           is_quick_load(u, in);
}

bool span_may_have(struct unit *u, const struct ir_insn *in)
{
    const bool same = in->fixed_address || is_uniform(u, in->a);
    if (is_of_shared(in))
        return is_quick_load(u, in) && !is_of_strong_read(in) && !is_padded_load(in);
    if (in->fixed_address || !in->wide_address)
        return false;
    return same || access_is(u, in, VG_SITE_UNIFORM) ? is_quick_load(u, in)
           : access_is(u, in, VG_SITE_ROWS)          ? is_quick_load(u, in) || is_quick_store(u, in)
                                                     : is_gathered(u, in);
}

/* @return whether an instruction is arithmetic that cannot fail. */
static bool is_arithmetic(struct unit *u, const struct ir_insn *in)
{
    return is_lane_arithmetic(u, in) && !may_widen(u, in);
}

const char *span_kind(struct unit *u, const struct ir_insn *in)
{
    const bool shared = is_of_shared(in), word = access_words(in) == 1;
    if (in->fixed_address || is_uniform(u, in->a) || access_is(u, in, VG_SITE_UNIFORM))
        return "SAME";
    if (access_is(u, in, VG_SITE_ROWS) && (word || !shared))
        return "ROWS";
    if (word && access_is(u, in, shared ? VG_SITE_HALVES : VG_SITE_PIECES))
        return shared ? "HALVES" : "PIECES";
    if (word && access_is(u, in, VG_SITE_QUARTERS))
        return "QUARTERS";
    return "ANY";
}

bool span_is_same(struct unit *u, const struct ir_insn *in)
{
    return strcmp(span_kind(u, in), "SAME") == 0;
}

static bool joins(struct unit *u, const struct ir_insn *in, const struct strand *s)
{
    const struct ir_insn *first = s->first;
    const int64_t size = 4 * (int64_t)access_words(in), more = in->imm - first->imm;
    return in->a == first->a && in->fixed_address == first->fixed_address &&
           in->local_frame == first->local_frame && in->shared_dynamic == first->shared_dynamic &&
           is_of_shared(in) == is_of_shared(first) && access_words(in) == access_words(first) &&
           strcmp(span_kind(u, in), span_kind(u, first)) == 0 && more % size == 0 &&
           more > -SPAN_FARTHEST && more < SPAN_FARTHEST;
}

struct strand *span_strand(struct unit *u, struct span *s, const struct ir_insn *in)
{
    for (uint32_t i = 0; i < s->strand_count; i++)
        if (joins(u, in, &s->strands[i]))
            return &s->strands[i];
    return NULL;
}

/* @return whether the access fits the span */
static bool add_access(struct unit *u, struct span *s, const struct ir_insn *in)
{
    struct strand *to = span_strand(u, s, in);
    if (is_of_shared(in) && s->reads == MOST_READS)
        return false;
    if (!to) {
        if (s->strand_count == SPAN_STRANDS)
            return false;
        to = &s->strands[s->strand_count++];
        *to = (struct strand){.first = in, .low = in->imm, .high = in->imm};
    }
    to->low = in->imm < to->low ? in->imm : to->low;
    to->high = in->imm > to->high ? in->imm : to->high;
    to->count++;
    to->loads += is_quick_load(u, in);
    s->reads += is_of_shared(in);
    s->accesses++;
    return true;
}

static bool any_of(const uint64_t *set, const uint32_t *slots, int n)
{
    for (int i = 0; i < n; i++)
        if (ptx_set_has(set, slots[i]))
            return true;
    return false;
}

static void add_all(uint64_t *set, const uint32_t *slots, int n)
{
    for (int i = 0; i < n; i++)
        ptx_set_add(set, slots[i]);
}

static bool is_written(struct unit *u, const struct span *s, uint32_t offset)
{
    const struct held *h = held_at(u, offset);
    return h && ptx_set_has(s->written, (uint32_t)(h - u->held));
}

/* @return whether one more instruction fits the span */
static bool extend(struct unit *u, struct span *s, const struct ir_insn *in)
{
    struct ptx_operands o;
    u->native->services->flow_operands(u->flow, in, &o);
    if (span_may_have(u, in)) {
        if ((!in->fixed_address && is_written(u, s, in->a)) || !add_access(u, s, in))
            return false;
        s->last = in->index;
    } else if (!is_arithmetic(u, in)) {
        return false;
    } else if (any_of(s->written, o.reads, o.read_count)) { /* uses values loaded by the span */
        s->last = in->index;
    }
    add_all(s->written, o.writes, o.write_count);
    return true;
}

bool span_find(struct unit *u, uint32_t first, struct span *s)
{
    const uint32_t end = ptx_block_end(u->f, first);
    *s = (struct span){.first = first, .last = first};
    if (!span_may_have(u, &u->f->insns[first]))
        return false;
    s->written = calloc(u->flow->words + 1, sizeof *s->written);
    if (!s->written)
        abort();
    for (uint32_t i = first; i < end && i - first < LONGEST; i++)
        if ((i > first && u->at[i]) || !extend(u, s, &u->f->insns[i]))
            break;
    if (s->accesses >= 2)
        return true;
    span_free(s);
    return false;
}

void span_free(struct span *s)
{
    free(s->written);
}
