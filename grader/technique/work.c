#include "grader/technique/work.h"

#include "base/tsv.h"
#include "grader/technique/data_flow.h"
#include "grader/technique/gpu_code.h"
#include "nn/oracle.h"
#include "vgpu/probe/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LAUNCHES = 256, CONST_BYTES_MAX = 65536 };

/* ---- the table ------------------------------------------------------------------------------ */

/* Launches of the same kernel on the same buffers, together. */
struct group {
    int function, kernel; /**< in the tree; in gr_work */
    char pointers[2048];
    double *threads; /**< [blocks] */
};

struct reading {
    struct gr_work *to;
    struct gr_code *code;
    struct flow_buffers buffers;
    struct group group[MAX_LAUNCHES];
    struct flow_launch launch[MAX_LAUNCHES];
    size_t groups;
    int tensors;                        /**< of x, k and y, seen so far */
    uint8_t host_data;                  /**< what was copied to the host so far */
    double from_host[FLOW_MAX_BUFFERS]; /**< bytes that the host has copied or written there */
};

static int function_number(const struct gr_code *code, const char *name)
{
    for (size_t i = 0; i < code->ast.function_count; i++)
        if (code->ast.functions[i].is_entry && code->ast.functions[i].has_body &&
            strcmp(code->ast.functions[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* "24=#1+4096 32=#2+0" without the offsets in the buffers. */
static void without_offsets(const char *pointers, char *to, size_t room)
{
    size_t used = 0;
    bool skipping = false;
    for (; *pointers && used + 1 < room; pointers++) {
        skipping = *pointers == '+' || (skipping && *pointers != ' ');
        if (!skipping)
            to[used++] = *pointers;
    }
    to[used] = '\0';
}

static int kernel_number(struct gr_work *to, int function, const char *name, int *functions)
{
    for (size_t i = 0; i < to->kernels; i++)
        if (functions[i] == function)
            return (int)i;
    if (to->kernels == GR_MAX_KERNELS)
        return GR_MAX_KERNELS - 1;
    struct gr_kernel_work *k = &to->kernel[to->kernels];
    functions[to->kernels] = function;
    name_demangle(name, k->name, sizeof k->name);
    return (int)to->kernels++;
}

static void add_threads(const char *blocks, int function, int count, double *threads)
{
    for (const char *at = blocks; *at;) {
        char *end;
        long f = strtol(at, &end, 10);
        long b = *end == '.' ? strtol(end + 1, &end, 10) : -1;
        double n = *end == ':' ? strtod(end + 1, &end) : 0;
        if (f == function && b >= 0 && b < count)
            threads[b] += n;
        at = end + strspn(end, " ");
        if (end == at && *at)
            return; /* not as it should be */
    }
}

static void take_kernel(struct reading *r, const struct tsv *t, size_t row, const int *column,
                        int *functions)
{
    enum { NAME, TO, FROM, BYTES, BLOCK, POINTERS, BLOCKS, KIND, PTX_HASH };
    const char *name = tsv_cell(t, row, column[NAME]);
    int function = function_number(r->code, name);
    /* One of that name may be in other code, which was put together when the program ran, say. */
    if (function < 0 || strcmp(tsv_cell(t, row, column[PTX_HASH]), r->code->ptx_hash) != 0) {
        r->to->not_followed = true;
        return;
    }
    struct kernel_code *code = &r->code->kernels[function];
    if (!code->insns)
        kernel_code_read(code, &r->code->ast, &r->code->ast.functions[function]);
    struct group g = {.function = function};
    without_offsets(tsv_cell(t, row, column[POINTERS]), g.pointers, sizeof g.pointers);
    size_t at = 0;
    while (at < r->groups &&
           (r->group[at].function != function || strcmp(r->group[at].pointers, g.pointers) != 0))
        at++;
    if (at == MAX_LAUNCHES) {
        r->to->not_followed = r->to->cut = true;
        return;
    }
    if (at == r->groups) {
        g.kernel = kernel_number(r->to, function, name, functions);
        g.threads = calloc((size_t)code->blocks + 1, sizeof *g.threads);
        if (!g.threads)
            abort();
        flow_launch_open(&r->launch[at], code, &r->buffers, g.pointers);
        r->group[r->groups++] = g;
    }
    struct gr_kernel_work *k = &r->to->kernel[r->group[at].kernel];
    k->launches++;
    k->instructions = code->insn_count;
    k->shared_bytes = r->code->ir.functions[function].shared_bytes;
    snprintf(k->block, sizeof k->block, "%s", tsv_cell(t, row, column[BLOCK]));
    add_threads(tsv_cell(t, row, column[BLOCKS]), function, code->blocks, r->group[at].threads);
}

static bool is_constant(const struct gr_code *code, const char *name)
{
    for (size_t i = 0; i < code->ast.variable_count; i++)
        if (code->ast.variables[i].space == PTX_SPACE_CONST &&
            strcmp(code->ast.variables[i].name, name) == 0)
            return true;
    return false;
}

/* The harness uploads x, k and y, in pieces if they are large, before anything else happens. */
static void take_tensor(struct reading *r, const char *to)
{
    size_t length = strcspn(to, "+");
    for (int i = 0; i < r->tensors; i++)
        if (strlen(r->buffers.buffer[i].name) == length &&
            strncmp(r->buffers.buffer[i].name, to, length) == 0)
            return;
    char *name = r->buffers.buffer[r->tensors++].name;
    snprintf(name, sizeof r->buffers.buffer->name, "%.*s", (int)length, to);
}

/* Copies on the device count whatever they carry. Through the host they are followed from x and k,
 * in the order in which they were made. */
static void take_copy(struct reading *r, const char *to, const char *from, double bytes)
{
    struct flow_buffers *all = &r->buffers;
    if (r->tensors <= FLOW_IS_Y && *to && !*from)
        take_tensor(r, to);
    int source = *from ? flow_buffer_number(all, from, strcspn(from, "+")) : -1;
    if (!*to) {
        r->host_data |= source >= 0 ? all->buffer[source].data : 0;
        return;
    }
    int n = flow_buffer_number(all, to, strcspn(to, "+"));
    r->from_host[n] += *from ? 0 : bytes;
    if (n <= FLOW_IS_Y && source < 0)
        return;     /* by the harness */
    if (source < 0) /* the host stands for the tensor it has from */
        source = r->host_data & FLOW_K ? FLOW_IS_K : r->host_data & FLOW_X ? FLOW_IS_X : -1;
    if (source >= 0 && all->copies < FLOW_MAX_COPIES)
        all->copy[all->copies++] = (struct flow_copy){n, source, bytes};
}

static enum st_code take_rows(struct reading *r, const struct tsv *t, struct st_error *err)
{
    static const char *const names[] = {"name",     "to",     "from", "bytes",   "block",
                                        "pointers", "blocks", "kind", "ptx_hash"};
    enum { NAME, TO, FROM, BYTES, BLOCK, POINTERS, BLOCKS, KIND, PTX_HASH, COLUMNS };
    int column[COLUMNS], functions[GR_MAX_KERNELS];
    for (int i = 0; i < COLUMNS; i++)
        if ((column[i] = tsv_column(t, names[i])) < 0)
            return st_fail(err, ST_BAD_FORMAT, "the table of work has no column '%s'", names[i]);
    for (size_t row = 0; row < t->rows; row++) {
        const char *kind = tsv_cell(t, row, column[KIND]);
        if (strcmp(kind, "kernel") == 0)
            take_kernel(r, t, row, column, functions);
        else if (strncmp(kind, "copy", 4) == 0)
            take_copy(r, tsv_cell(t, row, column[TO]), tsv_cell(t, row, column[FROM]),
                      strtod(tsv_cell(t, row, column[BYTES]), NULL));
    }
    return ST_OK;
}

/* ---- the counts ----------------------------------------------------------------------------- */

struct counting {
    const struct reading *r;
    const struct flow_launch *l;
    const double *threads;
    struct gr_kernel_work *kernel;
    struct gr_work_counts *c;
    bool *multiplies; /**< [blocks] holds a multiply-add that counts */
};

static uint8_t way_of_dest(const struct counting *k, const struct kc_insn *in)
{
    uint8_t ways = 0;
    for (int d = 0; d < in->dests; d++)
        ways |= k->l->reg[in->dest[d]].ways;
    return ways;
}

static void count_multiply(struct counting *k, const struct kc_insn *in, double n)
{
    uint8_t x = flow_sources(k->l, in, 0, 1).data, w = flow_sources(k->l, in, 1, 2).data;
    uint8_t ways = way_of_dest(k, in);
    if (!(x & FLOW_X) || !(w & FLOW_K)) {
        uint8_t swap = x;
        x = w;
        w = swap;
    }
    if (!(x & FLOW_X) || !(w & FLOW_K) || !ways)
        return;
    struct gr_work_counts *c = k->c;
    k->kernel->multiply_instructions++;
    k->multiplies[in->block] = true;
    c->multiply_adds += n;
    c->x_through_shared += x & FLOW_SHARED ? n : 0;
    c->k_through_shared += w & FLOW_SHARED ? n : 0;
    c->x_through_buffer += x & FLOW_BUFFER ? n : 0;
    c->k_from_constant += (w & FLOW_CONST) && !(w & FLOW_SHARED) ? n : 0;
    c->into_atomics += ways & FLOW_BY_ATOMIC ? n : 0;
}

static void count_global_load(struct counting *k, const struct kc_insn *in,
                              const struct kc_address *address, double words)
{
    uint64_t bases = flow_bases(k->l, in, address);
    for (int b = 0; b < k->l->code->bases; b++) {
        if (!(bases >> b & 1))
            continue;
        double read_only = in->read_only ? words : 0;
        if (k->l->code->base[b].kind == KC_CONST) {
            const struct flow_buffer *from = &k->r->buffers.buffer[k->l->buffer[b]];
            k->c->constant_loads += from->data & FLOW_K ? words : 0;
        } else if (k->l->buffer[b] == FLOW_IS_X) {
            k->c->x_loads += words;
            k->c->x_read_only_loads += read_only;
        } else if (k->l->buffer[b] == FLOW_IS_K) {
            k->c->k_loads += words;
            k->c->k_read_only_loads += read_only;
        }
    }
}

static void count_load(struct counting *k, const struct kc_insn *in, double words)
{
    uint64_t bases = flow_bases(k->l, in, &in->address);
    uint8_t data = 0;
    for (int b = 0; b < k->l->code->bases; b++)
        if (bases >> b & 1 && k->l->code->base[b].kind == KC_SHARED)
            data |= k->l->memory[b].data;
    if (data & (FLOW_X | FLOW_K))
        k->c->shared_loads += words;
    else
        count_global_load(k, in, &in->address, words);
}

/* Words of x or k stored to shared memory, or x to another place in global memory. */
static void count_moved(struct counting *k, const struct kc_insn *in, uint8_t data, double words)
{
    uint64_t bases = flow_bases(k->l, in, &in->address);
    bool raw = data & (FLOW_X | FLOW_K) && !(data & FLOW_PRODUCT);
    for (int b = 0; b < k->l->code->bases; b++) {
        if (!(bases >> b & 1))
            continue;
        const enum kc_base_kind kind = k->l->code->base[b].kind;
        if (kind == KC_SHARED && raw) {
            k->c->staged += words;
            k->c->x_staged += data & FLOW_X ? words : 0;
            return;
        }
        if (kind != KC_PARAM && kind != KC_GLOBAL)
            continue;
        if (k->l->buffer[b] == FLOW_IS_Y && data & FLOW_PRODUCT) {
            k->c->y_stores += data & FLOW_Y ? 0 : words;
            k->kernel->result_stores += in->elements;
        } else if (k->l->buffer[b] >= 0 && k->l->buffer[b] != FLOW_IS_Y && raw && data & FLOW_X) {
            k->c->x_rewritten += words;
        }
    }
}

/* Adding twice to one address, one addition behind the other, is one addition in two pieces. */
static bool repeats(const struct kernel_code *code, size_t at)
{
    const struct kc_insn *in = &code->insns[at];
    for (size_t i = at; i-- > 0 && code->insns[i].block == in->block;) {
        const struct kc_insn *other = &code->insns[i];
        if (other->kind == KC_ATOMIC && other->address.reg == in->address.reg &&
            other->address.offset == in->address.offset)
            return true;
    }
    return false;
}

/* Whether blocks [first, last] multiply, or give that register another value. */
static bool brings_more(const struct counting *k, int first, int last, int reg)
{
    const struct kernel_code *code = k->l->code;
    for (size_t i = 0; i < code->insn_count; i++) {
        const struct kc_insn *in = &code->insns[i];
        if (in->block < first || in->block > last)
            continue;
        if (k->multiplies[in->block])
            return true;
        for (int d = 0; d < in->dests; d++)
            if (in->dest[d] == reg)
                return true;
    }
    return false;
}

/* So is adding in a loop that neither multiplies nor goes to another address: it counts as often as
 * the block before the loop ran. */
static double without_rounds(const struct counting *k, const struct kc_insn *in, double n)
{
    const struct kernel_code *code = k->l->code;
    for (size_t i = 0; i < code->insn_count; i++) {
        const struct kc_insn *back = &code->insns[i];
        if (back->kind == KC_BRANCH && back->backward && back->target > 0 &&
            back->target <= in->block && in->block <= back->block &&
            k->threads[back->target - 1] < n &&
            !brings_more(k, back->target, back->block, in->address.reg))
            n = k->threads[back->target - 1];
    }
    return n;
}

static void count_atomic(struct counting *k, size_t at, double n)
{
    const struct kc_insn *in = &k->l->code->insns[at];
    uint64_t bases = flow_bases(k->l, in, &in->address);
    uint8_t data = flow_sources(k->l, in, 0, in->sources).data;
    for (int b = 0; b < k->l->code->bases; b++)
        if (bases >> b & 1 && k->l->buffer[b] == FLOW_IS_Y && in->adds && data & FLOW_PRODUCT &&
            !repeats(k->l->code, at))
            k->c->y_atomics += without_rounds(k, in, n) * in->elements;
}

static void count_loops(struct counting *k)
{
    const struct kernel_code *code = k->l->code;
    for (int b = 0; b < code->blocks; b++)
        k->c->multiply_blocks += k->multiplies[b] ? k->threads[b] : 0;
    for (size_t i = 0; i < code->insn_count; i++) {
        const struct kc_insn *in = &code->insns[i];
        bool around = false;
        for (int b = in->target; in->backward && b <= in->block; b++)
            around |= k->multiplies[b];
        k->c->loop_branches += around ? k->threads[in->block] : 0;
    }
}

static void count_launch(struct counting *k)
{
    const struct kernel_code *code = k->l->code;
    for (size_t i = 0; i < code->insn_count; i++) {
        const struct kc_insn *in = &code->insns[i];
        double n = k->threads[in->block], words = n * in->elements;
        if (n == 0)
            continue;
        if (in->kind == KC_MULTIPLY)
            count_multiply(k, in, n);
        else if (in->kind == KC_LOAD)
            count_load(k, in, words);
        else if (in->kind == KC_STORE)
            count_moved(k, in, flow_sources(k->l, in, 0, in->sources).data, words);
        else if (in->kind == KC_BARRIER)
            k->c->barriers += n;
        if (in->kind == KC_COPY) {
            count_global_load(k, in, &in->from, words);
            count_moved(k, in, flow_copied(k->l, &k->r->buffers, in), words);
        }
    }
    for (size_t i = 0; i < code->insn_count; i++)
        if (code->insns[i].kind == KC_ATOMIC)
            count_atomic(k, i, k->threads[code->insns[i].block]);
    count_loops(k);
}

static void add_counts(struct gr_work_counts *to, const struct gr_work_counts *c)
{
#define ADD(name) to->name += c->name;
    GR_WORK_COUNTS(ADD)
#undef ADD
}

/* What y is made of and what the harness has not brought. Weights may come by way of the host. */
static void count_from_host(struct reading *r)
{
    const struct conv_shape *s = &r->to->shape;
    const size_t tensor[] = {nn_conv_x_elems(s), nn_conv_k_elems(s), nn_conv_y_elems(s)};
    for (int i = 0; i < r->buffers.n; i++) {
        const struct flow_buffer *buffer = &r->buffers.buffer[i];
        const double own = i <= FLOW_IS_Y ? sizeof(float) * (double)tensor[i] : 0;
        const bool reaches_y = i <= FLOW_IS_Y || buffer->ways;
        if (reaches_y && r->from_host[i] > own && !is_constant(r->code, buffer->name))
            r->to->from_host_bytes += r->from_host[i] - own;
    }
}

static void count(struct reading *r)
{
    count_from_host(r);
    for (int i = 0; i < r->buffers.copies; i++) {
        const struct flow_copy *copy = &r->buffers.copy[i];
        if ((r->buffers.buffer[copy->from].data & FLOW_K) &&
            is_constant(r->code, r->buffers.buffer[copy->to].name))
            r->to->constant_bytes_copied += copy->bytes;
    }
    for (size_t i = 0; i < r->groups; i++) {
        struct counting k = {.r = r,
                             .l = &r->launch[i],
                             .threads = r->group[i].threads,
                             .kernel = &r->to->kernel[r->group[i].kernel]};
        k.c = &k.kernel->counts;
        k.multiplies = calloc((size_t)k.l->code->blocks + 1, sizeof *k.multiplies);
        if (!k.multiplies)
            abort();
        k.kernel->multiply_instructions = k.kernel->result_stores = 0;
        count_launch(&k);
        free(k.multiplies);
    }
    for (size_t i = 0; i < r->to->kernels; i++) {
        const struct gr_work_counts *c = &r->to->kernel[i].counts;
        add_counts(&r->to->total, c);
        if (c->multiply_adds > 0)
            add_counts(&r->to->multiplying, c);
    }
}

enum st_code gr_work_read(struct gr_work *to, struct gr_code *code, const struct tsv *table,
                          const struct conv_shape *shape, struct st_error *err)
{
    struct reading *r = calloc(1, sizeof *r);
    if (!r)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the table of work in memory");
    *to = (struct gr_work){.shape = *shape};
    r->to = to;
    r->code = code;
    flow_buffers_start(&r->buffers);
    enum st_code status = take_rows(r, table, err);
    if (!status) {
        flow_solve(r->launch, r->groups, &r->buffers);
        count(r);
    }
    for (size_t i = 0; i < r->groups; i++) {
        flow_launch_close(&r->launch[i]);
        free(r->group[i].threads);
    }
    free(r);
    return status;
}
