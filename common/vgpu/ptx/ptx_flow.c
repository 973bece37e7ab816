/* If an instruction is one expression of its columns, its operands are the columns of its row.
 * Otherwise each field that holds a slot counts as read and perhaps written. Liveness is computed
 * as usual, by iterating backwards over the basic blocks until nothing changes. */
#include "vgpu/ptx/ptx_flow.h"

#include "vgpu/ptx/ptx_match.h"

#include <stdlib.h>
#include <string.h>

static void add(uint32_t *list, int *count, uint32_t slot)
{
    for (int i = 0; i < *count; i++)
        if (list[i] == slot)
            return;
    if (*count < PTX_OPERANDS)
        list[(*count)++] = slot;
}

/* @return the number, plus 1, of the slot at an offset; 0 for the sink and for anything else. */
static uint32_t slot_at(const struct ptx_flow *flow, uint32_t offset)
{
    return offset % 4 == 0 && offset < flow->function->frame_bytes ? flow->slot_of[offset / 4] : 0;
}

static void add_read(const struct ptx_flow *flow, struct ptx_operands *to, uint32_t offset)
{
    const uint32_t slot = slot_at(flow, offset);
    if (slot)
        add(to->reads, &to->read_count, slot - 1);
}

static void add_write(const struct ptx_flow *flow, struct ptx_operands *to, uint32_t offset)
{
    const uint32_t slot = slot_at(flow, offset);
    if (slot && !flow->constant[slot - 1])
        add(to->writes, &to->write_count, slot - 1);
}

static void add_extras(const struct ptx_flow *flow, struct ptx_operands *to,
                       const struct ir_insn *in, bool reads, bool writes)
{
    for (uint32_t i = 0; i < in->extras; i++) {
        const uint32_t offset = flow->function->extra[in->extra + i];
        if (reads)
            add_read(flow, to, offset);
        if (writes)
            add_write(flow, to, offset);
    }
}

/* The lists of a product of matrices: results, then factors and summands; lengths precede them. */
static void add_lists(const struct ptx_flow *flow, struct ptx_operands *to,
                      const struct ir_insn *in)
{
    const uint32_t *at = flow->function->extra + in->extra, *const end = at + in->extras;
    for (bool is_result = true; at < end; is_result = false) {
        const uint32_t *const behind = at + 1 + at[0];
        for (at++; at < behind && at < end; at++)
            if (is_result)
                add_write(flow, to, *at);
            else
                add_read(flow, to, *at);
    }
}

static bool is_control(enum ir_op op)
{
    return op == IR_BRA || op == IR_BRX || op == IR_CALL || op == IR_RET || op == IR_EXIT ||
           op == IR_TRAP || op == IR_ENTER || op == IR_ENTER_JOIN;
}

/* @return whether a row reads and writes only its columns. */
static bool is_plain(const struct ir_insn *in)
{
    switch (in->op) {
    case IR_MOV_PRED:
    case IR_NOT_PRED:
    case IR_AND_PRED:
    case IR_OR_PRED:
    case IR_XOR_PRED:
    case IR_SELP_32:
    case IR_SELP_64:
    case IR_SREG:
    case IR_CVTA:
    case IR_CVT:
    case IR_LOCAL_ADDRESS:
    case IR_DYNAMIC_SHARED:
        return true;
    default:
        return ptx_is_compare(in) || ir_rows[in->op].is_lane;
    }
}

bool ptx_flow_computes(const struct ir_insn *in)
{
    return is_plain(in) || in->op == IR_UNPACK || in->op == IR_PACK;
}

static void plain_operands(const struct ptx_flow *flow, const struct ir_insn *in,
                           struct ptx_operands *to)
{
    const bool compares = ptx_is_compare(in);
    add_read(flow, to, in->a);
    add_read(flow, to, in->b);
    if (!compares || in->boolean)
        add_read(flow, to, in->c);
    if (compares)
        add_write(flow, to, in->e);
    else
        add_read(flow, to, in->e);
    add_write(flow, to, in->d);
    to->certain = !in->guard;
}

void ptx_flow_operands(const struct ptx_flow *flow, const struct ir_insn *in,
                       struct ptx_operands *to)
{
    const enum ir_op op = (enum ir_op)in->op;
    to->read_count = to->write_count = 0;
    to->certain = false;
    if (in->guard)
        add_read(flow, to, in->guard);
    if (is_control(op)) {
        if (op == IR_BRX || (op == IR_CALL && in->wide_address))
            add_read(flow, to, in->a);
    } else if (is_plain(in)) {
        plain_operands(flow, in, to);
    } else if (op == IR_LD) {
        add_read(flow, to, in->a);
        if (in->vector == 1)
            add_write(flow, to, in->d);
        add_extras(flow, to, in, false, true);
        to->certain = !in->guard;
    } else if (op == IR_ST) {
        add_read(flow, to, in->a);
        if (in->vector == 1)
            add_read(flow, to, in->b);
        add_extras(flow, to, in, true, false);
        to->certain = true;
    } else if (op == IR_UNPACK || op == IR_PACK) {
        add_read(flow, to, in->a);
        add_write(flow, to, in->d);
        add_extras(flow, to, in, op == IR_PACK, op == IR_UNPACK);
        to->certain = !in->guard;
    } else if (op == IR_SHFL) {
        const uint32_t sources[] = {in->a, in->b, in->c, in->f};
        for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
            add_read(flow, to, sources[i]);
        add_write(flow, to, in->d);
        add_write(flow, to, in->e);
    } else {
        const uint32_t fields[] = {in->d, in->a, in->b, in->c, in->e, in->f};
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
            add_read(flow, to, fields[i]);
            add_write(flow, to, fields[i]);
        }
        if (op == IR_MMA || op == IR_MMA_SP || op == IR_WMMA_MMA)
            add_lists(flow, to, in);
        else
            add_extras(flow, to, in, true, true);
    }
}

size_t ptx_flow_next(const struct ir_function *f, uint32_t index, uint32_t *to)
{
    const struct ir_insn *in = &f->insns[index];
    size_t n = 0;
    if (in->op == IR_BRA)
        to[n++] = in->target;
    for (uint32_t i = 0; in->op == IR_BRX && i < in->extras; i++)
        to[n++] = f->extra[in->extra + i];
    const bool ends = in->op == IR_BRX || (!in->guard && (in->op == IR_BRA || in->op == IR_RET ||
                                                          in->op == IR_EXIT || in->op == IR_TRAP));
    if (!ends && index + 1 < f->insn_count)
        to[n++] = index + 1;
    return n;
}

/* Computes the live registers before an instruction from those that are live after it. */
static void step_back(const struct ptx_flow *flow, const struct ir_insn *in, uint64_t *set)
{
    struct ptx_operands o;
    ptx_flow_operands(flow, in, &o);
    for (int i = 0; o.certain && i < o.write_count; i++)
        set[o.writes[i] / 64] &= ~((uint64_t)1 << o.writes[i] % 64);
    for (int i = 0; i < o.read_count; i++)
        if (!flow->constant[o.reads[i]])
            set[o.reads[i] / 64] |= (uint64_t)1 << o.reads[i] % 64;
}

static void live_behind(const struct ptx_flow *flow, uint32_t last, uint64_t *set, uint32_t *next)
{
    const struct ir_function *f = flow->function;
    memset(set, 0, flow->words * sizeof *set);
    const size_t n = ptx_flow_next(f, last, next);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *from = flow->live + f->insns[next[i]].block * flow->words;
        for (size_t k = 0; k < flow->words; k++)
            set[k] |= from[k];
    }
}

static bool update_block(const struct ptx_flow *flow, uint32_t block, uint64_t *set, uint32_t *next)
{
    const struct ir_function *f = flow->function;
    const uint32_t first = f->block_first[block], end = ptx_block_end(f, first);
    live_behind(flow, end - 1, set, next);
    for (uint32_t i = end; i-- > first;)
        step_back(flow, &f->insns[i], set);
    uint64_t *to = flow->live + block * flow->words;
    const bool changed = memcmp(to, set, flow->words * sizeof *set) != 0;
    memcpy(to, set, flow->words * sizeof *set);
    return changed;
}

static bool solve(struct ptx_flow *flow)
{
    const struct ir_function *f = flow->function;
    uint64_t *set = calloc(flow->words + 1, sizeof *set);
    uint32_t *next = calloc(f->extra_count + 2, sizeof *next);
    const bool can = set && next;
    for (bool changed = can; changed;) {
        changed = false;
        for (uint32_t b = f->block_count; b-- > 0;)
            changed |= update_block(flow, b, set, next);
    }
    free(set);
    free(next);
    return can;
}

/* @return a flow without its live sets */
static struct ptx_flow *map_slots(const struct ir_function *f)
{
    struct ptx_flow *flow = calloc(1, sizeof *flow);
    if (!flow)
        return NULL;
    flow->function = f;
    flow->words = (f->slot_count + 63) / 64;
    flow->slot_of = calloc(f->frame_bytes / 4 + 1, sizeof *flow->slot_of);
    flow->constant = calloc(f->slot_count + 1, sizeof *flow->constant);
    flow->live = calloc(f->block_count * flow->words + 1, sizeof *flow->live);
    if (!flow->slot_of || !flow->constant || !flow->live) {
        ptx_flow_free(flow);
        return NULL;
    }
    for (uint32_t i = 0; i < f->slot_count; i++)
        flow->slot_of[f->slots[i].offset / 4] = i + 1;
    for (size_t i = 0; i < f->constant_count; i++)
        flow->constant[flow->slot_of[f->constants[i].offset / 4] - 1] = &f->constants[i];
    return flow;
}

struct ptx_flow *ptx_flow_new(const struct ir_function *f)
{
    struct ptx_flow *flow = map_slots(f);
    if (flow && solve(flow))
        return flow;
    ptx_flow_free(flow);
    return NULL;
}

void ptx_flow_sources(const struct ptx_flow *flow, const struct ir_insn *in,
                      struct ptx_operands *to)
{
    struct ir_insn of = *in;
    if (in->op == IR_ATOM || in->op == IR_ATOM_128)
        of.d = 0;
    if (in->op == IR_ATOM_VECTOR && in->extras > in->vector)
        of.extras = in->vector;
    ptx_flow_operands(flow, &of, to);
}

static void note_reads(const struct ptx_flow *flow, const struct ir_insn *in, uint64_t *set)
{
    struct ptx_operands o;
    ptx_flow_sources(flow, in, &o);
    for (int i = 0; i < o.read_count; i++)
        set[o.reads[i] / 64] |= (uint64_t)1 << o.reads[i] % 64;
}

/* @return whether an instruction may have results that nothing reads, and is changed then. */
static bool may_be_unread(const struct ir_insn *in)
{
    return (in->op == IR_ATOM && in->d) || (in->op == IR_LD && in->vector > 1);
}

/* @param read  set of the slots that are read */
static void find_unread(struct ir_function *f, struct ir_insn *in, const struct ptx_flow *flow,
                        const uint64_t *read)
{
    if (in->op == IR_ATOM && !ptx_set_has(read, flow->slot_of[in->d / 4] - 1)) {
        in->unread = 1;
        if (in->space != PTX_SPACE_SHARED)
            in->d = 0;
    }
    for (uint32_t k = 0; in->op == IR_LD && k < in->vector; k++) {
        const uint32_t slot = flow->slot_of[ptx_element_slot(f, in, k, in->d) / 4];
        if (!slot || !ptx_set_has(read, slot - 1))
            in->unread |= (uint8_t)(1u << k);
    }
}

void ptx_flow_find_unread(struct ir_function *f)
{
    struct ptx_flow *flow = NULL;
    uint64_t *read = NULL;
    for (size_t i = 0; i < f->insn_count; i++) {
        struct ir_insn *in = &f->insns[i];
        if (!may_be_unread(in))
            continue;
        if (!flow) {
            flow = map_slots(f);
            read = flow ? calloc(flow->words + 1, sizeof *read) : NULL;
            for (size_t k = 0; read && k < f->insn_count; k++)
                note_reads(flow, &f->insns[k], read);
        }
        if (read)
            find_unread(f, in, flow, read);
    }
    free(read);
    ptx_flow_free(flow);
}

/* ---- addresses that are sums ------------------------------------------------------------------- */

/* The value of one register is that of another plus a number. (registers by offset in the frame) */
struct sum {
    uint32_t of, from;
    int64_t more;
};

/* The sums that are known at a place in a basic block; older ones are forgotten. */
enum { SUMS = 32 };
struct sums {
    struct sum at[SUMS];
    uint32_t count, next;
};

static const struct sum *find_sum(const struct sums *s, uint32_t of)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->at[i].of == of)
            return &s->at[i];
    return NULL;
}

/* Forgets the sums that contain a register. */
static void forget(struct sums *s, uint32_t slot)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->at[i].of == slot || s->at[i].from == slot)
            s->at[i].of = s->at[i].from = 0;
}

/* @return whether an instruction adds a number to a register. @param sum  becomes the sum, of a
 * register that is not a known sum itself */
static bool is_sum(const struct ptx_flow *flow, const struct ir_insn *in, const struct sums *known,
                   struct sum *sum)
{
    if ((in->op != IR_ADD_32 && in->op != IR_ADD_64) || in->guard || in->d == in->a)
        return false;
    const uint32_t a = slot_at(flow, in->a), b = slot_at(flow, in->b);
    const struct ir_constant *c = b ? flow->constant[b - 1] : NULL;
    if (!a || flow->constant[a - 1] || !c || c->is_param)
        return false;
    const struct sum *before = find_sum(known, in->a);
    const int64_t more = in->op == IR_ADD_64 ? (int64_t)c->bits : (int32_t)(uint32_t)c->bits;
    *sum = (struct sum){in->d, before ? before->from : in->a, more + (before ? before->more : 0)};
    return slot_at(flow, in->d);
}

void ptx_flow_share_addresses(struct ir_function *f)
{
    struct ptx_flow *flow = map_slots(f);
    struct sums known = {.count = 0};
    for (size_t i = 0; flow && i < f->insn_count; i++) {
        struct ir_insn *in = &f->insns[i];
        struct ptx_operands o;
        struct sum sum;
        if (i == 0 || in->block != in[-1].block)
            known.count = known.next = 0;
        const struct sum *address = (in->op == IR_LD || in->op == IR_ST) && !in->fixed_address
                                        ? find_sum(&known, in->a)
                                        : NULL;
        if (address) {
            in->a = address->from;
            in->imm += address->more;
        }
        const bool is = is_sum(flow, in, &known, &sum);
        ptx_flow_operands(flow, in, &o);
        for (int k = 0; k < o.write_count; k++)
            forget(&known, f->slots[o.writes[k]].offset);
        if (!is)
            continue;
        known.at[known.next] = sum;
        known.next = (known.next + 1) % SUMS;
        known.count += known.count < SUMS;
    }
    ptx_flow_free(flow);
}

void ptx_flow_free(struct ptx_flow *flow)
{
    if (!flow)
        return;
    free(flow->slot_of);
    free(flow->constant);
    free(flow->live);
    free(flow);
}

void ptx_flow_live(const struct ptx_flow *flow, uint32_t index, uint64_t *set)
{
    const struct ir_function *f = flow->function;
    const uint32_t end = ptx_block_end(f, index);
    uint32_t *next = calloc(f->extra_count + 2, sizeof *next);
    if (!next)
        abort();
    live_behind(flow, end - 1, set, next);
    for (uint32_t i = end; i-- > index;)
        step_back(flow, &f->insns[i], set);
    free(next);
}
