/* Immediate post-dominators, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"
 * (2001), run on the reversed graph: number the blocks in post-order from the exit, then intersect
 * the paths of each block's successors until nothing changes. */
#include "vgpu/ptx/ptx_cfg.h"

#include "base/array_room.h"

#include <stdlib.h>
#include <string.h>

long ptx_label_find(const struct ptx_function *f, const char *name, int scope)
{
    for (; scope >= 0; scope = f->scope_parent[scope])
        for (size_t i = 0; i < f->label_count; i++)
            if (f->labels[i].scope == scope && strcmp(f->labels[i].name, name) == 0)
                return (long)f->labels[i].instruction;
    /* Code in inline assembly's braces may jump to labels outside, and code outside to labels in
     * braces. */
    for (size_t i = 0; i < f->label_count; i++)
        if (strcmp(f->labels[i].name, name) == 0)
            return (long)f->labels[i].instruction;
    return -1;
}

static bool is_base(const char *opcode, const char *base)
{
    size_t n = strlen(base);
    return strncmp(opcode, base, n) == 0 && (opcode[n] == '\0' || opcode[n] == '.');
}

static bool ends_block(const char *op)
{
    return is_base(op, "bra") || is_base(op, "brx") || is_base(op, "ret") || is_base(op, "exit") ||
           is_base(op, "trap");
}

static const struct ptx_targets *find_targets(const struct ptx_function *f, const char *name)
{
    for (size_t i = 0; i < f->target_count; i++)
        if (strcmp(f->targets[i].name, name) == 0)
            return &f->targets[i];
    return NULL;
}

static void add_successor(struct ptx_block *b, int to)
{
    for (int i = 0; i < b->successor_count; i++)
        if (b->successors[i] == to)
            return;
    if (!ARRAY_ROOM(b->successors, b->successor_count))
        abort();
    b->successors[b->successor_count++] = to;
}

static void add_label(struct ptx_cfg *cfg, const struct ptx_function *f, struct ptx_block *b,
                      const char *name, int scope)
{
    long at = ptx_label_find(f, name, scope);
    if (at >= 0)
        add_successor(b, (size_t)at < f->instruction_count ? cfg->block_of[at] : PTX_CFG_EXIT);
}

static void link_block(struct ptx_cfg *cfg, const struct ptx_function *f, size_t i)
{
    struct ptx_block *b = &cfg->blocks[i];
    const struct ptx_instruction *last = &f->instructions[b->end - 1];
    int behind = i + 1 < cfg->block_count ? (int)i + 1 : PTX_CFG_EXIT;
    bool falls = !ends_block(last->opcode) || last->guard;
    if (is_base(last->opcode, "bra") && last->count > 0 && last->operands[0].name)
        add_label(cfg, f, b, last->operands[0].name, last->scope);
    else if (is_base(last->opcode, "brx") && last->count > 1 && last->operands[1].name) {
        const struct ptx_targets *t = find_targets(f, last->operands[1].name);
        for (size_t k = 0; t && k < t->count; k++)
            add_label(cfg, f, b, t->labels[k], last->scope);
    } else if (ends_block(last->opcode)) {
        add_successor(b, PTX_CFG_EXIT);
    }
    if (falls)
        add_successor(b, behind);
}

static void cut_blocks(struct ptx_cfg *cfg, const struct ptx_function *f)
{
    size_t n = f->instruction_count;
    bool *leads = calloc(n + 1, sizeof *leads);
    cfg->block_of = calloc(n + 1, sizeof *cfg->block_of);
    cfg->blocks = calloc(n + 1, sizeof *cfg->blocks);
    if (!leads || !cfg->block_of || !cfg->blocks)
        abort();
    leads[0] = true;
    for (size_t i = 0; i < f->label_count; i++)
        leads[f->labels[i].instruction] = true;
    for (size_t i = 0; i < n; i++)
        if (ends_block(f->instructions[i].opcode))
            leads[i + 1] = true;
    for (size_t i = 0; i < n; i++) {
        if (leads[i])
            cfg->blocks[cfg->block_count++].first = i;
        cfg->block_of[i] = (int)cfg->block_count - 1;
        cfg->blocks[cfg->block_count - 1].end = i + 1;
    }
    free(leads);
}

/* The blocks in post-order from the exit (block number `exit`), over reversed edges. */
struct order {
    int exit, count;
    int *number;   /* [blocks + 1] index in the order; -1: not seen, -2: in progress */
    int *sequence; /* [count] blocks */
    int *up;       /* [blocks + 1] immediate post-dominator; -1: not yet known */
    int *first;    /* [blocks + 2] b's predecessors: predecessor[first[b]] to [first[b + 1] - 1] */
    int *predecessor;
};

static int *integers(size_t n)
{
    int *p = calloc(n, sizeof *p);
    if (!p)
        abort();
    return p;
}

static int successor(const struct order *o, const struct ptx_block *b, int k)
{
    return b->successors[k] == PTX_CFG_EXIT ? o->exit : b->successors[k];
}

static void reverse_edges(struct order *o, const struct ptx_cfg *cfg)
{
    const size_t n = cfg->block_count;
    o->first = integers(n + 3);
    for (size_t b = 0; b < n; b++)
        for (int k = 0; k < cfg->blocks[b].successor_count; k++)
            o->first[successor(o, &cfg->blocks[b], k) + 2]++;
    for (size_t b = 2; b < n + 3; b++)
        o->first[b] += o->first[b - 1];
    o->predecessor = integers((size_t)o->first[n + 2] + 1);
    for (size_t b = 0; b < n; b++)
        for (int k = 0; k < cfg->blocks[b].successor_count; k++)
            o->predecessor[o->first[successor(o, &cfg->blocks[b], k) + 1]++] = (int)b;
}

static void number_blocks(struct order *o)
{
    int *stack = integers((size_t)o->exit + 2), *next = integers((size_t)o->exit + 2), depth = 1;
    stack[0] = o->exit;
    o->number[o->exit] = -2;
    while (depth) {
        const int b = stack[depth - 1], at = o->first[b] + next[b];
        if (at < o->first[b + 1]) {
            const int p = o->predecessor[at];
            next[b]++;
            if (o->number[p] == -1) {
                o->number[p] = -2;
                stack[depth++] = p;
            }
        } else {
            o->number[b] = o->count;
            o->sequence[o->count++] = b;
            depth--;
        }
    }
    free(stack);
    free(next);
}

static int intersect(const struct order *o, int a, int b)
{
    while (a != b) {
        while (o->number[a] < o->number[b])
            a = o->up[a];
        while (o->number[b] < o->number[a])
            b = o->up[b];
    }
    return a;
}

/* @return whether a block's post-dominator changed */
static bool dominate(const struct order *o, const struct ptx_cfg *cfg, int b)
{
    int to = -1;
    for (int k = 0; k < cfg->blocks[b].successor_count; k++) {
        const int s = successor(o, &cfg->blocks[b], k);
        if (o->number[s] < 0 || o->up[s] < 0)
            continue; /* cannot reach the exit, or not visited yet */
        to = to < 0 ? s : intersect(o, to, s);
    }
    const bool changed = to != o->up[b];
    o->up[b] = to;
    return changed;
}

static void find_meetings(struct ptx_cfg *cfg)
{
    const size_t n = cfg->block_count;
    struct order o = {.exit = (int)n,
                      .number = integers(n + 1),
                      .sequence = integers(n + 1),
                      .up = integers(n + 1)};
    for (size_t i = 0; i <= n; i++)
        o.number[i] = o.up[i] = -1;
    reverse_edges(&o, cfg);
    number_blocks(&o);
    o.up[n] = o.exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = o.count - 2; i >= 0; i--)
            changed |= dominate(&o, cfg, o.sequence[i]);
    }
    for (size_t b = 0; b < n; b++) {
        struct ptx_block *block = &cfg->blocks[b];
        block->meets = o.up[b] < 0 || o.up[b] == o.exit ? PTX_CFG_EXIT : o.up[b];
        if (block->successor_count > 1 && block->meets != PTX_CFG_EXIT)
            cfg->blocks[block->meets].is_meeting = true;
    }
    free(o.first);
    free(o.predecessor);
    free(o.number);
    free(o.sequence);
    free(o.up);
}

void ptx_cfg_build(struct ptx_cfg *cfg, const struct ptx_function *f)
{
    memset(cfg, 0, sizeof *cfg);
    if (!f->instruction_count)
        return;
    cut_blocks(cfg, f);
    for (size_t i = 0; i < cfg->block_count; i++)
        link_block(cfg, f, i);
    find_meetings(cfg);
}

void ptx_cfg_free(struct ptx_cfg *cfg)
{
    for (size_t i = 0; i < cfg->block_count; i++)
        free(cfg->blocks[i].successors);
    free(cfg->blocks);
    free(cfg->block_of);
    memset(cfg, 0, sizeof *cfg);
}
