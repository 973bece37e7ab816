/* Describes the computation of a kernel as a set of hashes that renaming and reordering do not
 * change.
 *
 *     1. Each instruction is a node; its operands come from the instructions that write them; a
 *        loop's variable is written by several. Copies and conversions of integers are skipped.
 *     2. A node's label is its operation: the opcode with types reduced to their widths, and its
 *        constants.
 *     3. Labels are refined with the algorithm of Weisfeiler and Lehman: a node's next label
 *        combines its own label and its operands' labels, sorted if their order does not matter. A
 *        sum or product of integers is one node, however its terms are grouped.
 *     4. The labels of the last rounds are the marks, each with its source line. */
#include "grader/similar/marks.h"
#include "vgpu/ptx/ptx_ast.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 4,
    FIRST_ROUND = 2,
    MOST_SOURCES = 8,
    MOST_COPIES = 6,
    MOST_WORD = 32,
    MOST_OPCODE = 160
};

/* An instruction: the kind of its operation, its label, and its operands. */
struct node {
    char opcode[MOST_OPCODE];
    bool writes, copies, sorted, compares;
    bool sum, product; /* of integers: a mad is both */
    bool inner;        /* used only by sums that are marked themselves */
    uint64_t label, next;
    int first, count; /* the operands that it reads */
};

/* A register and the nodes that write it. */
struct written {
    const char *name;
    int count, node[MOST_SOURCES];
};

struct graph {
    const struct ptx_function *f;
    struct node *node;
    struct written *written; /* [room], open addressing */
    size_t room;
};

static bool is_word(const char *opcode, const char *const *words)
{
    const size_t length = strcspn(opcode, ".");
    for (; *words; words++)
        if (strlen(*words) == length && memcmp(*words, opcode, length) == 0)
            return true;
    return false;
}

/* ---- opcodes -------------------------------------------------------------------------------- */

/* A comparison, expressed as less-than, because the branch after it may also be inverted. */
static const char *compared(const char *word)
{
    static const char *const pairs[][2] = {
        {"ge", "lt"},  {"gt", "lt"},  {"le", "lt"},  {"ne", "eq"},  {"neu", "eq"},
        {"geu", "lt"}, {"gtu", "lt"}, {"leu", "lt"}, {"ltu", "lt"}, {"equ", "eq"},
        {"lo", "lt"},  {"ls", "lt"},  {"hi", "lt"},  {"hs", "lt"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(word, pairs[i][0]) == 0)
            return pairs[i][1];
    return word;
}

/* The word of an opcode without the parts that are easy to change in a disguise: signs, hints,
 * rounding. */
static const char *plain_word(const char *word, bool compares)
{
    static const char *const dropped[] = {"nc", "uni", "rn", "lo", "aligned", "sync", "ca", NULL};
    if (is_word(word, dropped))
        return "";
    if (strchr("sub", word[0]) && isdigit((unsigned char)word[1]))
        return word + 1;
    return compares ? compared(word) : word;
}

static void read_opcode(struct node *n, const char *opcode)
{
    static const char *const no_result[] = {"st",      "red",      "bra",       "bar",
                                            "barrier", "ret",      "exit",      "membar",
                                            "fence",   "prefetch", "trap",      "cp",
                                            "call",    "brx",      "nanosleep", "griddepcontrol",
                                            NULL},
                             *const copies[] = {"mov", "cvta", "cvt", NULL},
                             *const sorted[] = {"add", "mul", "mad", "fma", "and",
                                                "or",  "xor", "min", "max", NULL};
    n->writes = !is_word(opcode, no_result);
    n->compares = strncmp(opcode, "setp", 4) == 0;
    n->sorted = is_word(opcode, sorted);
    /* only between integers, because a conversion to or from .f32 is a computation */
    n->copies = is_word(opcode, copies) &&
                (opcode[0] == 'm' || (!strstr(opcode, ".f") && !strstr(opcode, ".bf")));
    const bool integers = !strstr(opcode, ".f") && !strstr(opcode, ".bf") &&
                          !strstr(opcode, ".cc") && !strstr(opcode, ".hi") && !strstr(opcode, "x2");
    n->sum = integers && is_word(opcode, (const char *const[]){"add", "sub", "mad", NULL});
    n->product = integers && is_word(opcode, (const char *const[]){"mul", "mad", NULL});
    size_t used = 0;
    for (const char *at = opcode; *at && used + MOST_WORD < sizeof n->opcode; at += *at == '.') {
        char word[MOST_WORD];
        const size_t length = strcspn(at, ".");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        const char *plain = plain_word(word, n->compares);
        used += (size_t)sprintf(n->opcode + used, plain[0] ? "%s." : "%s", plain);
        at += length;
    }
}

/* ---- registers ------------------------------------------------------------------------------ */

static struct written *find(const struct graph *g, const char *name)
{
    size_t at = si_hash(SI_HASH_BEGIN, name, strlen(name)) % g->room;
    while (g->written[at].name && strcmp(g->written[at].name, name) != 0)
        at = (at + 1) % g->room;
    return &g->written[at];
}

static void note_write(struct graph *g, const char *name, int node)
{
    if (!name || strcmp(name, "_") == 0)
        return;
    struct written *w = find(g, name);
    w->name = name;
    if (w->count < MOST_SOURCES)
        w->node[w->count++] = node;
}

static void note_writes(struct graph *g, int i)
{
    const struct ptx_instruction *in = &g->f->instructions[i];
    const struct ptx_operand *to = in->operands;
    if (!g->node[i].writes || in->count < 1)
        return;
    note_write(g, to->name, i);
    note_write(g, to->name2, i);
    for (int e = 0; to->kind == PTX_VECTOR && e < to->elements; e++)
        note_write(g, in->operands[to->first + e].name, i);
}

/* ---- labels --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t text_label(const char *text)
{
    return si_hash(SI_HASH_BEGIN, text, strlen(text));
}

/* The label of a name that no instruction writes: special registers (by name), parameters,
 * variables. */
static uint64_t name_label(const struct graph *g, const char *name)
{
    for (size_t i = 0; i < g->f->param_count; i++)
        if (strcmp(g->f->params[i].name, name) == 0)
            return text_label("a parameter");
    return text_label(strchr(name, '.') ? name : "a variable");
}

struct found {
    uint64_t label[MOST_SOURCES];
    int count;
};

static void put_label(struct found *to, uint64_t label)
{
    for (int i = 0; i < to->count; i++)
        if (to->label[i] == label)
            return;
    if (to->count < MOST_SOURCES)
        to->label[to->count++] = label;
}

static void operand_labels(const struct graph *g, const struct ptx_instruction *in,
                           const struct ptx_operand *o, int copies, struct found *to);

static void name_labels(const struct graph *g, const char *name, int copies, struct found *to)
{
    const struct written *w = find(g, name);
    if (!w->name)
        put_label(to, name_label(g, name));
    for (int i = 0; i < w->count; i++) {
        const struct ptx_instruction *from = &g->f->instructions[w->node[i]];
        if (g->node[w->node[i]].copies && from->count == 2 && copies < MOST_COPIES)
            operand_labels(g, from, &from->operands[1], copies + 1, to);
        else
            put_label(to, g->node[w->node[i]].label);
    }
}

static void operand_labels(const struct graph *g, const struct ptx_instruction *in,
                           const struct ptx_operand *o, int copies, struct found *to)
{
    if (o->kind == PTX_LITERAL)
        put_label(to, si_hash(SI_HASH_BEGIN, &o->bits, sizeof o->bits));
    else if (o->kind == PTX_VECTOR || o->kind == PTX_LIST)
        for (int e = 0; e < o->elements; e++)
            operand_labels(g, in, &in->operands[o->first + e], copies, to);
    else if (o->name)
        name_labels(g, o->name, copies, to);
}

static uint64_t operand_label(const struct graph *g, const struct ptx_instruction *in,
                              const struct ptx_operand *o)
{
    struct found found = {.count = 0};
    operand_labels(g, in, o, 0, &found);
    if (found.count == 1)
        return found.label[0];
    qsort(found.label, (size_t)found.count, sizeof *found.label, by_number);
    return si_hash(SI_HASH_BEGIN, found.label, (size_t)found.count * sizeof *found.label);
}

/* ---- sums and products of integers ---------------------------------------------------------- */

enum { MOST_TERMS = 24, MOST_DEPTH = 8 };

/* The terms of a sum or product, in a form that does not depend on how it is written: (a + b) - c
 * equals a - c + b. */
struct terms {
    uint64_t label[MOST_TERMS], constant; /* the sum of the constants */
    int count;
};

/* Follows an operand through copies. @param source  becomes the instruction that computes it; -1:
 * none, or several @return the operand at the end of the copies */
static const struct ptx_operand *follow(const struct graph *g, const struct ptx_operand *o,
                                        int *source)
{
    *source = -1;
    for (int copies = 0; o->kind == PTX_NAME && o->name && copies < MOST_COPIES; copies++) {
        const struct written *w = find(g, o->name);
        if (w->count != 1)
            break;
        const struct ptx_instruction *in = &g->f->instructions[w->node[0]];
        if (!g->node[w->node[0]].copies || in->count != 2) {
            *source = w->node[0];
            break;
        }
        o = &in->operands[1];
    }
    return o;
}

static void put_term(struct terms *to, uint64_t label, bool minus)
{
    if (to->count < MOST_TERMS)
        to->label[to->count++] = minus ? ~label : label;
}

static void put_factors(const struct graph *g, int i, int depth, struct terms *to)
{
    const struct ptx_instruction *in = &g->f->instructions[i];
    for (int k = 1; k < 3 && k < in->count; k++) {
        int from;
        follow(g, &in->operands[k], &from);
        if (from >= 0 && g->node[from].product && !g->node[from].sum && depth < MOST_DEPTH)
            put_factors(g, from, depth + 1, to);
        else
            put_term(to, operand_label(g, in, &in->operands[k]), false);
    }
}

static uint64_t terms_label(const char *kind, struct terms *of)
{
    qsort(of->label, (size_t)of->count, sizeof *of->label, by_number);
    const uint64_t label = si_hash(text_label(kind), &of->constant, sizeof of->constant);
    return si_hash(label, of->label, (size_t)of->count * sizeof *of->label);
}

static uint64_t product_label(const struct graph *g, int i)
{
    struct terms factors = {.count = 0};
    put_factors(g, i, 0, &factors);
    return terms_label("product", &factors);
}

static void put_sum(const struct graph *g, int i, bool minus, int depth, struct terms *to)
{
    const struct ptx_instruction *in = &g->f->instructions[i];
    const struct node *n = &g->node[i];
    if (n->product)
        put_term(to, product_label(g, i), minus);
    for (int k = n->product ? 3 : 1; k < in->count; k++) {
        const bool negative = minus != (k == 2 && strncmp(in->opcode, "sub", 3) == 0);
        int from;
        const struct ptx_operand *const o = follow(g, &in->operands[k], &from);
        if (o->kind == PTX_LITERAL)
            to->constant += negative ? -o->bits : o->bits;
        else if (from >= 0 && g->node[from].sum && depth < MOST_DEPTH)
            put_sum(g, from, negative, depth + 1, to);
        else if (from >= 0 && g->node[from].product)
            put_term(to, product_label(g, from), negative);
        else
            put_term(to, operand_label(g, in, &in->operands[k]), negative);
    }
}

/* Marks parts of a sum as inner. They are not marks, because another order of the terms has other
 * parts. */
static void find_inner(struct graph *g)
{
    const size_t n = g->f->instruction_count;
    bool *by_sum = calloc(n + 1, sizeof *by_sum), *otherwise = calloc(n + 1, sizeof *otherwise);
    for (size_t i = 0; i < n && by_sum && otherwise; i++) {
        const struct ptx_instruction *in = &g->f->instructions[i];
        for (int k = g->node[i].writes; k < in->count && !g->node[i].copies; k++) {
            int from;
            follow(g, &in->operands[k], &from);
            if (from >= 0)
                (g->node[i].sum && !(g->node[i].product && k < 3) ? by_sum : otherwise)[from] =
                    true;
        }
    }
    for (size_t i = 0; i < n && by_sum && otherwise; i++)
        g->node[i].inner = g->node[i].sum && by_sum[i] && !otherwise[i];
    free(by_sum);
    free(otherwise);
}

/* Whether operands are swapped: in both "a > b" and "a <= b", b comes first. */
static bool is_swapped(const char *opcode)
{
    return strstr(opcode, ".gt") || strstr(opcode, ".le") || strstr(opcode, ".hi.") ||
           strstr(opcode, ".ls.");
}

static uint64_t refined(const struct graph *g, int i)
{
    enum { MOST_OPERANDS = 16 };
    const struct ptx_instruction *in = &g->f->instructions[i];
    const struct node *n = &g->node[i];
    uint64_t label[MOST_OPERANDS + 1];
    int count = 0;
    if (n->sum) {
        struct terms terms = {.count = 0};
        put_sum(g, i, false, 0, &terms);
        return terms_label("sum", &terms);
    }
    if (n->product)
        return product_label(g, i);
    for (int k = n->writes; k < in->count && count < MOST_OPERANDS; k++)
        label[count++] = operand_label(g, in, &in->operands[k]);
    if (count >= 2 && (n->sorted || (n->compares && strstr(n->opcode, "eq"))))
        qsort(label, 2, sizeof *label, by_number);
    if (count >= 2 && n->compares && is_swapped(in->opcode)) {
        const uint64_t first = label[0];
        label[0] = label[1];
        label[1] = first;
    }
    if (in->guard && strncmp(in->opcode, "bra", 3) == 0) {
        const struct ptx_operand guard = {.kind = PTX_NAME, .name = in->guard};
        count = 0;
        label[count++] = operand_label(g, in, &guard);
    }
    return si_hash(text_label(n->opcode), label, (size_t)count * sizeof *label);
}

/* The label of the instruction alone, with the offsets of its addresses. */
static uint64_t own_label(const struct ptx_instruction *in, const struct node *n)
{
    uint64_t label = text_label(n->sum ? "sum" : n->product ? "product" : n->opcode);
    for (int k = 0; k < in->count; k++)
        if (in->operands[k].kind == PTX_ADDRESS && strstr(in->opcode, "param") == NULL)
            label = si_hash(label, &in->operands[k].offset, sizeof in->operands[k].offset);
    return label;
}

/* ---- marks ---------------------------------------------------------------------------------- */

/* The line in the submission: for an inlined instruction, the line of the outermost call. */
static int line_of(const struct ptx_ast *ast, const struct ptx_instruction *in)
{
    struct ptx_location at = in->location;
    if (at.file != 1)
        for (int caller = at.caller; caller > 0 && (size_t)caller <= ast->call_count;
             caller = ast->calls[caller - 1].caller) {
            at.file = ast->calls[caller - 1].file;
            at.line = ast->calls[caller - 1].line;
        }
    return at.file == 1 ? at.line : 0;
}

static bool is_telling(const struct node *n, const struct ptx_instruction *in)
{
    return !n->copies && !n->inner && strncmp(in->opcode, "ld.param", 8) != 0 &&
           !(strncmp(in->opcode, "bra", 3) == 0 && !in->guard) &&
           strncmp(in->opcode, "ret", 3) != 0;
}

static bool mark_function(struct si_marks *to, const struct ptx_ast *ast, struct graph *g)
{
    const int n = (int)g->f->instruction_count;
    bool can = true;
    for (int i = 0; i < n; i++) {
        read_opcode(&g->node[i], g->f->instructions[i].opcode);
        g->node[i].label = own_label(&g->f->instructions[i], &g->node[i]);
        note_writes(g, i);
    }
    find_inner(g);
    for (int round = 1; round <= ROUNDS && can; round++) {
        for (int i = 0; i < n; i++)
            g->node[i].next = refined(g, i);
        for (int i = 0; i < n && can; i++) {
            const struct ptx_instruction *in = &g->f->instructions[i];
            g->node[i].label = g->node[i].next;
            if (round >= FIRST_ROUND && is_telling(&g->node[i], in))
                can = si_mark_add(
                    to, (struct si_mark){g->node[i].label, line_of(ast, in), line_of(ast, in)});
        }
    }
    return can;
}

/* The size of a hash table for all registers that are written; half of it stays free. */
static size_t room_for(const struct ptx_function *f)
{
    size_t n = 32;
    for (size_t i = 0; i < f->instruction_count; i++) {
        const struct ptx_instruction *in = &f->instructions[i];
        n += in->count ? 2 + (size_t)in->operands[0].elements : 0;
    }
    return 2 * n;
}

enum st_code si_kernel_marks(struct si_marks *to, const char *ptx, size_t bytes,
                             struct st_error *err)
{
    struct ptx_ast ast = {0};
    enum st_code code = ptx_parse(&ast, ptx, bytes, err);
    for (size_t i = 0; i < ast.function_count && !code; i++) {
        struct graph g = {.f = &ast.functions[i]};
        const size_t n = g.f->instruction_count;
        g.room = room_for(g.f);
        g.node = calloc(n + 1, sizeof *g.node);
        g.written = calloc(g.room, sizeof *g.written);
        if (!g.node || !g.written || !mark_function(to, &ast, &g))
            code = st_fail(err, ST_NO_MEMORY, "cannot compare kernels");
        free(g.node);
        free(g.written);
    }
    ptx_ast_free(&ast);
    return code;
}
