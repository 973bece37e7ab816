/* Immediate post-dominators, after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"
 * (2001), run on the reversed graph: number the blocks in post-order from the exit, then intersect
 * the paths of each block's successors until nothing changes. */
#include "vgpu/ptx/ptx_cfg.h"

#include <stdlib.h>
#include <string.h>

long ptx_label_find(const struct ptx_function *f, const char *name, int scope)
{
    for (; scope >= 0; scope = f->scope_parent[scope])
        for (size_t i = 0; i < f->label_count; i++)
            if (f->labels[i].scope == scope && strcmp(f->labels[i].name, name) == 0)
                return (long)f->labels[i].instruction;
    /* Assembly inside braces may jump out to, or in from, its surroundings. */
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
    int *more = realloc(b->successors, ((size_t)b->successor_count + 1) * sizeof *more);
    if (!more)
        abort();
    b->successors = more;
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

struct order {
    int *number, *sequence, count; /* post-order from the exit over reversed edges */
    int **predecessors, *predecessor_count;
};

static void number_from(struct order *o, int start, int exit)
{
    struct {
        int block, next;
    } *stack = malloc(((size_t)exit + 2) * sizeof *stack);
    if (!stack)
        abort();
    int depth = 0;
    stack[depth].block = start;
    stack[depth++].next = 0;
    o->number[start] = -2;
    while (depth) {
        int b = stack[depth - 1].block;
        if (stack[depth - 1].next < o->predecessor_count[b]) {
            int p = o->predecessors[b][stack[depth - 1].next++];
            if (o->number[p] == -1) {
                o->number[p] = -2;
                stack[depth].block = p;
                stack[depth++].next = 0;
            }
        } else {
            o->number[b] = o->count;
            o->sequence[o->count++] = b;
            depth--;
        }
    }
    free(stack);
}

static int intersect(const struct order *o, const int *up, int a, int b)
{
    while (a != b) {
        while (o->number[a] < o->number[b])
            a = up[a];
        while (o->number[b] < o->number[a])
            b = up[b];
    }
    return a;
}

static void find_meetings(struct ptx_cfg *cfg)
{
    int n = (int)cfg->block_count, exit = n;
    size_t room = (size_t)n + 1;
    struct order o = {.number = malloc(room * sizeof(int)),
                      .sequence = malloc(room * sizeof(int)),
                      .predecessors = calloc(room, sizeof(int *)),
                      .predecessor_count = calloc(room, sizeof(int))};
    int *up = malloc(room * sizeof *up);
    if (!o.number || !o.sequence || !o.predecessors || !o.predecessor_count || !up)
        abort();
    for (int i = 0; i <= n; i++)
        o.number[i] = up[i] = -1;
    for (int b = 0; b < n; b++)
        for (int k = 0; k < cfg->blocks[b].successor_count; k++) {
            int s = cfg->blocks[b].successors[k];
            s = s == PTX_CFG_EXIT ? exit : s;
            o.predecessors[s] =
                realloc(o.predecessors[s], ((size_t)o.predecessor_count[s] + 1) * sizeof(int));
            if (!o.predecessors[s])
                abort();
            o.predecessors[s][o.predecessor_count[s]++] = b;
        }
    number_from(&o, exit, exit);
    up[exit] = exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = o.count - 2; i >= 0; i--) {
            int b = o.sequence[i], to = -1;
            for (int k = 0; k < cfg->blocks[b].successor_count; k++) {
                int s = cfg->blocks[b].successors[k];
                s = s == PTX_CFG_EXIT ? exit : s;
                if (o.number[s] < 0 || up[s] < 0)
                    continue; /* cannot reach the exit, or not seen yet */
                to = to < 0 ? s : intersect(&o, up, to, s);
            }
            if (to != up[b]) {
                up[b] = to;
                changed = true;
            }
        }
    }
    for (int b = 0; b < n; b++) {
        struct ptx_block *block = &cfg->blocks[b];
        block->meets = up[b] < 0 || up[b] == exit ? PTX_CFG_EXIT : up[b];
        if (block->successor_count > 1 && block->meets != PTX_CFG_EXIT)
            cfg->blocks[block->meets].is_meeting = true;
    }
    for (int i = 0; i <= n; i++)
        free(o.predecessors[i]);
    free(o.predecessors);
    free(o.predecessor_count);
    free(o.number);
    free(o.sequence);
    free(up);
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
