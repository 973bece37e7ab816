/* Regions: code that only some lanes execute, while the others wait at the reconvergence point:
 *
 *     @p bra END          HEAD:
 *     ...                 ...
 *     END:                @p bra HEAD      (and branches out of the loop)
 *                         END:
 *
 * The executing lanes do not diverge from each other if the code has only plain instructions,
 * branches of this kind, and branches at which lanes have never diverged. (A division of 64-bit
 * numbers has one: it branches to a faster division if all numbers are small.) If lanes do diverge
 * at such a branch, they leave the unit. In the region, the mask contains only these lanes. A
 * register that is written in a region and read after it keeps its value in the waiting lanes, so
 * it cannot be uniform. */
#include "vgpu/native/unit.h"

enum { LONGEST = 400 }; /* instructions of a region */

bool region_may_part(struct unit *u, const struct ir_insn *in)
{
    return in->op == IR_BRA && in->guard && !is_uniform(u, in->guard);
}

/* @return whether the lanes that take this branch out of a loop wait at the end of the loop. */
bool region_has_way_out(const struct region *r, const struct ir_insn *in)
{
    return r->is_loop && in->target == r->end && in->imm == (int64_t)r->end;
}

bool region_is_left_at(struct unit *u, const struct ir_insn *in)
{
    const uint32_t inside = u->regions[in->index].inside;
    return region_may_part(u, in) && inside != NO_REGION && !u->regions[in->index].end &&
           !region_has_way_out(&u->regions[inside], in);
}

/* @return whether a branch jumps ahead, and the interpreter has never seen its lanes diverge. */
static bool keeps_together(const struct unit *u, const struct ir_insn *in)
{
    return in->target > in->index && u->kinds && u->kinds[in->site] != VG_SITE_DIVERGED;
}

static bool stays(struct unit *u, const struct ir_insn *in, const struct region *r)
{
    if (in->op != IR_BRA)
        return !unit_ends(u, in) && !unit_is_together(u, in);
    if (in->target < r->first || in->target > r->end)
        return false;
    return !region_may_part(u, in) || u->regions[in->index].end || region_has_way_out(r, in) ||
           in->index + 1 == r->end || keeps_together(u, in);
}

static bool leads_into(const struct unit *u, const struct ir_insn *in, uint32_t first, uint32_t end)
{
    if (in->op == IR_BRA)
        return in->target >= first && in->target < end;
    for (uint32_t k = 0; in->op == IR_BRX && k < in->extras; k++)
        if (u->f->extra[in->extra + k] >= first && u->f->extra[in->extra + k] < end)
            return true;
    return false;
}

/* @return whether no code outside leads into the middle of a region, and the unit contains all of
 * it. */
static bool is_closed(const struct unit *u, const struct region *r)
{
    const uint32_t first = r->first + r->is_loop;
    for (size_t i = 0; i < u->entry_count; i++)
        if (u->entries[i] >= first && u->entries[i] < r->end)
            return false;
    for (uint32_t i = r->first; i <= r->end; i++)
        if (u->f->insns[i].block != u->f->insns[i - 1].block && !u->at[i])
            return false;
    for (uint32_t i = 0; i < u->f->insn_count; i++)
        if ((i < r->first || i >= r->end) && leads_into(u, &u->f->insns[i], first, r->end))
            return false;
    return true;
}

/* @return whether a region contains, is inside, or is disjoint from each region found before. */
static bool nests(const struct unit *u, const struct region *r)
{
    for (uint32_t i = 0; i < u->f->insn_count; i++) {
        const struct region *o = &u->regions[i];
        if (o->end && (o->first < r->end && r->first < o->end) &&
            !(r->first <= o->first && o->end <= r->end) &&
            !(o->first <= r->first && r->end <= o->end))
            return false;
    }
    return true;
}

/* @return the region of a branch; its end is 0 if it has none */
static struct region region_of(struct unit *u, const struct ir_insn *in)
{
    const bool is_loop = in->target <= in->index;
    struct region r = {.is_loop = is_loop,
                       .first = is_loop ? in->target : in->index + 1,
                       .end = is_loop ? in->index + 1 : in->target};
    const struct region none = {0};
    if (!region_may_part(u, in) || in->imm != (int64_t)r.end || r.first == 0 || r.end <= r.first ||
        r.end - r.first > LONGEST || r.end >= u->f->insn_count)
        return none;
    for (uint32_t i = r.first; i < r.end; i++)
        if (!stays(u, &u->f->insns[i], &r))
            return none;
    return is_closed(u, &r) && nests(u, &r) ? r : none;
}

/* Marks registers that are written in a region and read after it. @return whether there are new
 * marks */
static bool blend_written(struct unit *u, const struct region *r)
{
    bool changed = false;
    u->native->services->flow_live(u->flow, r->end, u->set);
    for (uint32_t i = r->first; i < r->end; i++) {
        struct ptx_operands o;
        bool is_signed;
        u->native->services->flow_operands(u->flow, &u->f->insns[i], &o);
        const bool widens = form_of(&u->f->insns[i], &is_signed) >= FORM_WIDE;
        for (int k = 0; k < o.write_count; k++) {
            struct held *h = &u->held[o.writes[k]];
            const bool blends = ptx_set_has(u->set, o.writes[k]);
            changed |= (blends && !h->blends) || (widens && !h->is_whole);
            h->blends |= blends;
            h->is_whole |= widens || blends;
        }
    }
    return changed;
}

/* Finds small regions first, since they may be part of larger ones. */
static bool find_regions(struct unit *u)
{
    bool changed = false, more = true;
    for (uint32_t i = 0; i < u->f->insn_count; i++)
        u->regions[i] = (struct region){0};
    while (more) {
        more = false;
        for (uint32_t i = u->f->insn_count; i-- > 0;) {
            if (u->f->insns[i].op != IR_BRA || u->regions[i].end)
                continue;
            u->regions[i] = region_of(u, &u->f->insns[i]);
            more |= u->regions[i].end != 0;
        }
    }
    for (uint32_t i = 0; i < u->f->insn_count; i++)
        if (u->regions[i].end)
            changed |= blend_written(u, &u->regions[i]);
    return changed;
}

/* @return whether region a is inside b. If a branch skips only a loop, both are equal: then the
 * loop is the inner one. */
static bool is_inner(const struct region *a, const struct region *b)
{
    const uint32_t size = a->end - a->first, other = b->end - b->first;
    return b->end && b->first <= a->first && a->end <= b->end &&
           (size < other || (size == other && a->is_loop && !b->is_loop));
}

static uint32_t smaller(const struct unit *u, uint32_t a, uint32_t b)
{
    return a == NO_REGION || is_inner(&u->regions[b], &u->regions[a]) ? b : a;
}

/* Finds the innermost region of each instruction and of each region. */
static void find_inside(struct unit *u)
{
    for (uint32_t i = 0; i < u->f->insn_count; i++)
        u->regions[i].inside = u->regions[i].around = NO_REGION;
    for (uint32_t i = 0; i < u->f->insn_count; i++) {
        for (uint32_t k = u->regions[i].first; k < u->regions[i].end; k++)
            u->regions[k].inside = smaller(u, u->regions[k].inside, i);
        for (uint32_t k = 0; k < u->f->insn_count && u->regions[i].end; k++)
            if (u->regions[k].end && is_inner(&u->regions[k], &u->regions[i]))
                u->regions[k].around = smaller(u, u->regions[k].around, i);
    }
}

void regions_find(struct unit *u)
{
    do
        classes_find(u);
    while (find_regions(u));
    find_inside(u);
    classes_find_numbers(u);
}
