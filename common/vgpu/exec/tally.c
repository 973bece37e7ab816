#include "vgpu/exec/tally.h"

#include "base/tsv.h"
#include "vgpu/exec/bulk_copies.h"
#include "vgpu/exec/proof.h"
#include "vgpu/exec/vg_launch.h"
#include "vgpu/exec/workers.h"
#include "vgpu/ptx/ptx_flow.h"

#include <stdlib.h>
#include <string.h>

static void add_site(struct vg_site *to, const struct vg_site *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
    to->divergent += from->divergent;
    to->shared_requests += from->shared_requests;
    to->wavefronts += from->wavefronts;
    to->local_requests += from->local_requests;
    to->local_sectors += from->local_sectors;
}

static bool is_load(const struct ir_insn *in)
{
    return in->op == IR_LD || in->op == IR_LDMATRIX || in->op == IR_WMMA_LOAD || in->op == IR_TEX ||
           in->op == IR_TLD4 || in->op == IR_SULD;
}

/* Counts the bytes requested by the threads of `warps` warps in one instruction. If the instruction
 * does not define bytes per thread (matrices, textures), the bytes moved count. */
static void count_requested(struct vg_counters *c, const struct ir_insn *in,
                            const struct vg_site *s, uint64_t warps, uint64_t threads)
{
    const bool load = is_load(in);
    uint64_t *global = load ? &c->global_load_bytes : &c->global_store_bytes;
    uint64_t *shared = load ? &c->shared_load_bytes : &c->shared_store_bytes;
    if (in->op != IR_LD && in->op != IR_ST) {
        *global += 32 * s->sectors;
        *shared += 128 * s->wavefronts;
        return;
    }
    const uint64_t all = s->requests + s->shared_requests + s->local_requests;
    if (!all || !warps)
        return;
    double bytes = (double)threads * in->bytes * (in->vector > 1 ? in->vector : 1);
    if (in->guard && all < warps)
        bytes *= (double)all / (double)warps;
    *global += (uint64_t)(bytes * (double)s->requests / (double)all + 0.5);
    *shared += (uint64_t)(bytes * (double)s->shared_requests / (double)all + 0.5);
}

static void count_memory(struct vg_counters *c, const struct ir_insn *in, const struct vg_site *s,
                         uint64_t warps, uint64_t threads)
{
    if (in->space != PTX_SPACE_CONST && in->op != IR_ATOM && in->op != IR_ATOM_VECTOR &&
        in->op != IR_ATOM_128)
        count_requested(c, in, s, warps, threads);
    if (in->op == IR_ATOM || in->op == IR_ATOM_VECTOR || in->op == IR_ATOM_128) {
        c->global_atomic_requests += s->requests;
        c->global_atomic_sectors += s->sectors;
    } else if (in->space == PTX_SPACE_CONST) {
        c->constant_requests += s->requests;
        c->constant_wavefronts += s->sectors;
    } else if (is_load(in)) {
        c->global_load_requests += s->requests;
        c->global_load_sectors += s->sectors;
    } else {
        c->global_store_requests += s->requests;
        c->global_store_sectors += s->sectors;
    }
    uint64_t *requests = is_load(in) ? &c->shared_load_requests : &c->shared_store_requests;
    uint64_t *wavefronts = is_load(in) ? &c->shared_load_wavefronts : &c->shared_store_wavefronts;
    *requests += s->shared_requests;
    *wavefronts += s->wavefronts;
    requests = is_load(in) ? &c->local_load_requests : &c->local_store_requests;
    wavefronts = is_load(in) ? &c->local_load_sectors : &c->local_store_sectors;
    *requests += s->local_requests;
    *wavefronts += s->local_sectors;
}

static enum ir_class class_of(const struct ir_insn *in)
{
    if (in->op == IR_LD || in->op == IR_ST)
        return in->space == PTX_SPACE_SHARED  ? IR_CLASS_SHARED
               : in->space == PTX_SPACE_LOCAL ? IR_CLASS_LOCAL
               : in->space == PTX_SPACE_CONST ? IR_CLASS_CONSTANT
                                              : IR_CLASS_GLOBAL;
    return ir_rows[in->op].class;
}

static void count_flops(struct vg_counters *c, const struct ir_insn *in, uint64_t threads)
{
    enum ir_class class = ir_rows[in->op].class;
    bool fma =
        strcmp(ir_rows[in->op].base, "fma|mad") == 0 || strcmp(ir_rows[in->op].base, "fma") == 0;
    if (class == IR_CLASS_FP32 && ir_rows[in->op].is_lane) {
        if (fma)
            c->fp32_fma += threads;
        else
            c->fp32_add_mul += threads;
    } else if (class == IR_CLASS_FP64) {
        c->fp64_ops += threads * (fma ? 2 : 1);
    } else if (class == IR_CLASS_FP16) {
        c->fp16_ops += threads * (fma ? 2 : 1);
    }
}

/* Counts a bulk copy as one access to each of its two memories. */
static void count_bulk(struct vg_counters *c, const struct ir_insn *in, const struct vg_site *s,
                       uint64_t warps, uint64_t threads)
{
    struct ir_insn one = *in;
    struct vg_site global = *s, shared = *s;
    global.shared_requests = global.wavefronts = 0;
    shared.requests = shared.sectors = 0;
    one.op = bulk_is_load(in) ? IR_LDMATRIX : IR_STMATRIX;
    count_memory(c, &one, &global, warps, threads);
    one.op = bulk_is_load(in) ? IR_STMATRIX : IR_LDMATRIX;
    count_memory(c, &one, &shared, warps, threads);
}

/* Counts one instruction issued by `warps` warps with `threads` active threads in total. */
static void count_instruction(struct vg_counters *c, const struct ir_insn *in,
                              const struct vg_tally *t, const uint64_t warps, uint64_t threads)
{
    int slots = ir_rows[in->op].slots;
    if (!slots)
        return;
    c->warp_instructions += warps;
    c->thread_instructions += threads;
    c->by_class[class_of(in)] += warps;
    count_flops(c, in, threads);
    if (in->op == IR_BRA || in->op == IR_BRX) {
        c->branches += warps;
        c->divergent_branches += t->sites[in->site].divergent;
    } else if (ptx_is_barrier(in)) {
        c->barriers += warps;
    } else if (in->op == IR_CP_ASYNC) {
        struct ir_insn load = *in, store = *in;
        load.op = IR_LD;
        load.space = PTX_SPACE_GLOBAL;
        store.op = IR_ST;
        store.space = PTX_SPACE_SHARED;
        count_memory(c, &load, &t->sites[in->site - 1], warps, threads);
        count_memory(c, &store, &t->sites[in->site], warps, threads);
    } else if (bulk_is_load(in) || bulk_is_store(in)) {
        count_bulk(c, in, &t->sites[in->site], warps, threads);
    } else if (in->site) {
        count_memory(c, in, &t->sites[in->site], warps, threads);
    }
}

/* @return the model's cost of an instruction, in machine instructions. It is the number in the row
 * of opcodes.def, with these exceptions: most moves cost nothing, an addition to a wide product is
 * part of the product, and each basic block costs one more, for divergence and reconvergence. These
 * rules come from a comparison with the instructions that an H200 executed (docs/results/h200).
 * @param wides  the block's wide products so far that have no addition yet */
static double issue_slots(const struct ir_insn *in, int *wides)
{
    const struct ir_row *row = &ir_rows[in->op];
    if (in->op == IR_ENTER || in->op == IR_ENTER_JOIN) {
        *wides = 0;
        return 1;
    }
    *wides += in->op == IR_MUL_WIDE_S32 || in->op == IR_MUL_WIDE_U32;
    if (in->op == IR_ADD_64 && *wides > 0) {
        (*wides)--;
        return 0;
    }
    return row->class == IR_CLASS_MOVE ? 0.25 * row->slots : row->slots;
}

/* @return the issue slots of the reciprocals and conversions inside divisions and roots: these run
 * in the pipe of the special functions. */
static double special_slots(const struct ir_row *row)
{
    const bool divides = strcmp(row->base, "div") == 0 || strcmp(row->base, "rem") == 0;
    if (row->class == IR_CLASS_SPECIAL || (!divides && strcmp(row->base, "sqrt") != 0))
        return 0;
    return !divides ? 1 : row->class == IR_CLASS_INT ? 3 : 2;
}

/* A product of 16 rows by 8 columns and 32 bytes of K occupies the pipe as long as an mma. */
#define WARPGROUP_SLOTS(columns) (ir_rows[IR_MMA].slots * (columns) / 8.0)

static void count_facts(struct vg_clock_facts *f, const struct ir_insn *in, double warps,
                        int *wides)
{
    const struct ir_row *row = &ir_rows[in->op];
    const double slots = issue_slots(in, wides) * warps;
    f->issue_slots += slots;
    if (!row->slots)
        return;
    f->slots[class_of(in)] += in->op == IR_WGMMA ? WARPGROUP_SLOTS(in->target) * warps : slots;
    f->slots[IR_CLASS_SPECIAL] += special_slots(row) * warps;
    if (row->class == IR_CLASS_INT && row->slots == 1 && strncmp(row->base, "mul", 3) != 0 &&
        strncmp(row->base, "mad", 3) != 0)
        f->int_simple += slots;
}

static void count_all(struct vg_counters *c, const struct vg_kernel *k, const struct vg_tally *t,
                      struct vg_clock_facts *facts)
{
    const struct ir_function *f;
    int wides = 0;
    for (size_t at = 0; (f = vg_code_next(k, &at));)
        for (size_t i = 0; i < f->insn_count; i++) {
            const struct ir_insn *in = &f->insns[i];
            const uint32_t block = k->module->block_of[in->number];
            if (!t->block_warps[block])
                continue;
            count_instruction(c, in, t, t->block_warps[block], t->block_threads[block]);
            if (facts)
                count_facts(facts, in, (double)t->block_warps[block], &wides);
        }
}

static struct vg_tally *tally_new(const struct vg_module *m)
{
    struct vg_tally *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->sites = calloc(m->ir.site_count + 1, sizeof *t->sites);
    t->block_warps = calloc(m->block_count + 1, sizeof *t->block_warps);
    t->block_threads = calloc(m->block_count + 1, sizeof *t->block_threads);
    if (!t->sites || !t->block_warps || !t->block_threads)
        abort();
    return t;
}

void vg_tally_free(struct vg_tally *t)
{
    if (!t)
        return;
    free(t->sites);
    free(t->block_warps);
    free(t->block_threads);
    free(t);
}

/* Adds counts of the code of a kernel. */
static void add_counts(struct vg_tally *to, const struct vg_kernel *k, const struct vg_site *sites,
                       const uint64_t *block_warps, const uint64_t *block_threads)
{
    const struct ir_function *f;
    for (size_t at = 0; (f = vg_code_next(k, &at));) {
        const uint32_t first = k->module->block_of[f->first_insn];
        for (uint32_t b = first; b < first + f->block_count; b++) {
            to->block_warps[b] += block_warps[b];
            to->block_threads[b] += block_threads[b];
        }
        for (size_t i = 0; i < f->insn_count; i++) {
            const struct ir_insn *in = &f->insns[i];
            if (!in->site)
                continue;
            add_site(&to->sites[in->site], &sites[in->site]);
            if (in->op == IR_CP_ASYNC)
                add_site(&to->sites[in->site - 1], &sites[in->site - 1]);
        }
    }
}

/* Adds the accesses in spans of native code, which counts only runs of whole spans, and what an
 * access needs beyond one sector or one wavefront. */
static void add_spans(struct vg_tally *to, const struct vg_worker *worker,
                      const struct vg_kernel *kernel)
{
    uint64_t *const runs = worker->span_edges; /* become the runs around each access */
    for (uint32_t k = 1; k <= kernel->module->ir.site_count; k++)
        runs[k] += runs[k - 1];
    const struct ir_function *f;
    for (size_t at = 0; (f = vg_code_next(kernel, &at));)
        for (size_t i = 0; i < f->insn_count; i++) {
            const struct ir_insn *in = &f->insns[i];
            if (!in->site || (in->op != IR_LD && in->op != IR_ST))
                continue;
            const bool shared = in->space == PTX_SPACE_SHARED;
            struct vg_site *s = &to->sites[in->site];
            *(shared ? &s->shared_requests : &s->requests) += runs[in->site];
            *(shared ? &s->wavefronts : &s->sectors) += runs[in->site];
        }
}

static void gather(struct vg_launch *launch, struct vg_tally *to)
{
    for (int i = 0; i < launch->device->worker_count; i++) {
        struct vg_worker *w = &launch->device->workers[i];
        if (w->used_by != launch->number)
            continue;
        add_counts(to, launch->kernel, w->sites, w->block_warps, w->block_threads);
        add_spans(to, w, launch->kernel);
    }
}

/* @return "FUNCTION.BLOCK:THREADS ..." of the basic blocks that ran. */
static char *blocks_text(const struct vg_launch *launch, const struct vg_tally *t)
{
    const struct vg_module *m = launch->module;
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f)
        return NULL;
    uint32_t first = 0;
    for (size_t i = 0; i < m->ir.function_count; i++) {
        uint32_t n = m->ir.functions[i].has_body ? m->ir.functions[i].block_count : 0;
        for (uint32_t b = 0; b < n; b++)
            if (t->block_threads[first + b])
                fprintf(f, "%zu.%u:%llu%s ", i, b, (unsigned long long)t->block_threads[first + b],
                        proof_works(launch, &m->ir.functions[i], b) ? "*" : "");
        first += n;
    }
    return fclose(f) ? NULL : text;
}

struct vg_tally *vg_tally_launch(struct vg_launch *launch, struct vg_launch_report *report,
                                 struct vg_clock_facts *facts)
{
    struct vg_module *m = launch->module;
    struct vg_kernel *kernel = launch->kernel;
    struct vg_tally *now = tally_new(m);
    gather(launch, now);
    count_all(&report->counters, kernel, now, facts);
    if (launch->device->keeps_blocks)
        report->blocks = blocks_text(launch, now);
    if (!kernel->tally)
        kernel->tally = tally_new(m);
    struct vg_tally *t = kernel->tally;
    t->launches++;
    add_counts(t, kernel, now->sites, now->block_warps, now->block_threads);
    return now;
}

/* ---- the table ------------------------------------------------------------------------------- */

/** The columns of the counters' table: X(name, expression). */
#define COLUMNS(X)                                                                                 \
    X("warp_instructions", c->warp_instructions)                                                   \
    X("thread_instructions", c->thread_instructions)                                               \
    X("global_load_requests", c->global_load_requests)                                             \
    X("global_load_sectors", c->global_load_sectors)                                               \
    X("global_store_requests", c->global_store_requests)                                           \
    X("global_store_sectors", c->global_store_sectors)                                             \
    X("global_atomic_requests", c->global_atomic_requests)                                         \
    X("global_atomic_sectors", c->global_atomic_sectors)                                           \
    X("local_load_requests", c->local_load_requests)                                               \
    X("local_load_sectors", c->local_load_sectors)                                                 \
    X("local_store_requests", c->local_store_requests)                                             \
    X("local_store_sectors", c->local_store_sectors)                                               \
    X("shared_load_requests", c->shared_load_requests)                                             \
    X("shared_load_wavefronts", c->shared_load_wavefronts)                                         \
    X("shared_store_requests", c->shared_store_requests)                                           \
    X("shared_store_wavefronts", c->shared_store_wavefronts)                                       \
    X("constant_requests", c->constant_requests)                                                   \
    X("constant_wavefronts", c->constant_wavefronts)                                               \
    X("branches", c->branches)                                                                     \
    X("divergent_branches", c->divergent_branches)                                                 \
    X("barriers", c->barriers)                                                                     \
    X("fp32_fma", c->fp32_fma)                                                                     \
    X("fp32_add_mul", c->fp32_add_mul)                                                             \
    X("fp64_ops", c->fp64_ops)                                                                     \
    X("fp16_ops", c->fp16_ops)                                                                     \
    X("global_load_bytes", c->global_load_bytes)                                                   \
    X("global_store_bytes", c->global_store_bytes)                                                 \
    X("shared_load_bytes", c->shared_load_bytes)                                                   \
    X("shared_store_bytes", c->shared_store_bytes)

enum {
#define COUNT(name, value) +1
    COLUMN_COUNT = 0 COLUMNS(COUNT),
#undef COUNT
    FIRST_COLUMNS = 5,
    LAUNCH_COLUMNS = 6,
    ALL_COLUMNS = FIRST_COLUMNS + IR_CLASSES + COLUMN_COUNT + LAUNCH_COLUMNS,
};

/** Columns about the last launch, except the time, which is the sum of all launches. Empty in the
 * rows of source lines. */
static const char *const launch_columns[LAUNCH_COLUMNS] = {
    "registers", "registers_from", "shared_bytes", "occupancy", "limiter", "modelled_ns"};

void vg_counters_write_header(FILE *out)
{
    const char *names[ALL_COLUMNS] = {"kernel",
                                      "symbol",
                                      "file",
                                      "line",
                                      "launches",
#define NAME(name, text) "class_" text,
                                      IR_CLASS_MAP(NAME)
#undef NAME
#define NAME(name, value) name,
                                          COLUMNS(NAME)
#undef NAME
    };
    memcpy(&names[ALL_COLUMNS - LAUNCH_COLUMNS], launch_columns, sizeof launch_columns);
    tsv_write_row(out, ALL_COLUMNS, names);
}

/* Fills the cells of launch_columns. */
static void launch_cells(const struct vg_tally *t, char text[LAUNCH_COLUMNS][24],
                         const char **cells)
{
    const struct vg_launch_report *r = &t->last;
    snprintf(text[0], sizeof text[0], "%d", r->registers);
    if (r->registers_sm)
        snprintf(text[1], sizeof text[1], "sm_%d", r->registers_sm);
    else
        snprintf(text[1], sizeof text[1], "estimate");
    snprintf(text[2], sizeof text[2], "%zu", r->static_shared_bytes + r->dynamic_shared_bytes);
    snprintf(text[3], sizeof text[3], "%.4f", r->occupancy);
    snprintf(text[4], sizeof text[4], "%s", r->limiter);
    snprintf(text[5], sizeof text[5], "%.0f", t->modelled_ns);
    for (int i = 0; i < LAUNCH_COLUMNS; i++)
        cells[i] = text[i];
}

static void write_row(FILE *out, const struct vg_kernel *k, const char *file, int line,
                      const struct vg_counters *c)
{
    char numbers[ALL_COLUMNS][24], launch[LAUNCH_COLUMNS][24];
    const char *cells[ALL_COLUMNS];
    uint64_t values[ALL_COLUMNS] = {0, 0, 0, (uint64_t)line, k->tally->launches};
    size_t n = FIRST_COLUMNS;
    for (int i = 0; i < IR_CLASSES; i++)
        values[n++] = c->by_class[i];
#define VALUE(name, value) values[n++] = value;
    COLUMNS(VALUE)
#undef VALUE
    for (size_t i = 3; i < ALL_COLUMNS; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%llu", (unsigned long long)values[i]);
        cells[i] = numbers[i];
    }
    cells[0] = k->name;
    cells[1] = k->function->name;
    cells[2] = file;
    for (int i = ALL_COLUMNS - LAUNCH_COLUMNS; i < ALL_COLUMNS; i++)
        cells[i] = "";
    if (!line)
        launch_cells(k->tally, launch, &cells[ALL_COLUMNS - LAUNCH_COLUMNS]);
    tsv_write_row(out, ALL_COLUMNS, cells);
}

static void write_kernel(FILE *out, const struct vg_module *m, const struct vg_kernel *k)
{
    struct vg_counters all = {0};
    count_all(&all, k, k->tally, NULL);
    write_row(out, k, "", 0, &all);
    struct vg_counters *lines = calloc(m->ir.location_count + 1, sizeof *lines);
    if (!lines)
        return;
    for (uint32_t i = 0; i < m->ir.insn_count; i++) {
        const struct ir_insn *in = m->insns[i];
        uint32_t block = m->block_of[i];
        if (in->location < 0 || !k->tally->block_warps[block])
            continue;
        /* A source line may have several entries in the table of locations: the first one collects
         * the sum. */
        size_t at = 0;
        const struct ir_location *l = &m->ir.locations[in->location];
        while (m->ir.locations[at].line != l->line ||
               strcmp(m->ir.locations[at].file, l->file) != 0)
            at++;
        count_instruction(&lines[at], in, k->tally, k->tally->block_warps[block],
                          k->tally->block_threads[block]);
    }
    for (size_t i = 0; i < m->ir.location_count; i++)
        if (lines[i].warp_instructions)
            write_row(out, k, m->ir.locations[i].file, m->ir.locations[i].line, &lines[i]);
    free(lines);
}

static void write_module(FILE *out, const struct vg_module *m)
{
    for (size_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].tally)
            write_kernel(out, m, &m->kernels[i]);
}

void vg_counters_retire(struct vg_device *device, const struct vg_module *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f)
        return;
    if (device->retired)
        fwrite(device->retired, 1, device->retired_bytes, f);
    write_module(f, m);
    if (fclose(f)) {
        free(text);
        return;
    }
    free(device->retired);
    device->retired = text;
    device->retired_bytes = bytes;
}

void vg_counters_write(const struct vg_device *device, FILE *out)
{
    if (device->retired)
        fwrite(device->retired, 1, device->retired_bytes, out);
    for (const struct vg_module *m = device->modules; m; m = m->next)
        write_module(out, m);
}

void vg_counters_clear(struct vg_device *device)
{
    free(device->retired);
    device->retired = NULL;
    device->retired_bytes = 0;
    for (const struct vg_module *m = device->modules; m; m = m->next) {
        for (size_t i = 0; i < m->kernel_count; i++) {
            vg_tally_free(m->kernels[i].tally);
            m->kernels[i].tally = NULL;
        }
    }
}
