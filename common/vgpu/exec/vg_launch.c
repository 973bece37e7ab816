/* A launch: checks its sizes, hands blocks to the workers, merges what they counted and found.
 *
 * Workers take block numbers in order. A worker runs one block at a time, unless that block only
 * spins (it waits for another block): then it takes more blocks beside it. When every worker has
 * only spun for a while since anything happened anywhere, the kernel makes no progress. */
#include "vgpu/exec/findings.h"
#include "vgpu/exec/path.h"
#include "vgpu/exec/sample.h"
#include "vgpu/exec/tally.h"
#include "vgpu/exec/vg_block.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_RESIDENT = 2048, /* blocks that one worker holds at most */
    PATIENT_ROUNDS = 64, /* turns without progress before another block is taken in */
    QUIET_ROUNDS =
        100, /* turns without progress anywhere, of each worker, before it is called none */
    RECURSIVE_STACK_BYTES = 64 * 1024,
};

/* Two for each instruction: few need more, and many need one. */
struct vg_shape *vg_shape_new(struct vg_worker *w)
{
    return w->shape_count < 2 * w->site_room ? &w->shapes[w->shape_count++] : NULL;
}

static bool grow_counts(struct vg_worker *w, const struct vg_module *m)
{
    size_t sites = m->ir.site_count + 1, blocks = m->block_count + 1;
    if (sites > w->site_room) {
        free(w->sites);
        w->sites = aligned_alloc(64, (sites * sizeof *w->sites + 63) / 64 * 64);
        free(w->shapes);
        w->shapes = aligned_alloc(64, 2 * sites * sizeof *w->shapes);
        w->site_room = w->sites && w->shapes ? sites : 0;
    }
    if (blocks > w->block_room) {
        free(w->block_warps);
        free(w->block_threads);
        w->block_warps = malloc(blocks * sizeof *w->block_warps);
        w->block_threads = malloc(blocks * sizeof *w->block_threads);
        w->block_room = w->block_warps && w->block_threads ? blocks : 0;
    }
    if (!w->site_room || !w->block_room)
        return false;
    w->shape_count = 0;
    memset(w->sites, 0, sizeof *w->sites * sites);
    memset(w->block_warps, 0, sizeof *w->block_warps * blocks);
    memset(w->block_threads, 0, sizeof *w->block_threads * blocks);
    return true;
}

static struct vg_block *take_block(struct vg_worker *w, struct vg_launch *l)
{
    uint64_t number = atomic_fetch_add(&l->next_block, 1);
    if (number >= l->blocks || number > atomic_load(&l->fault_block))
        return NULL;
    struct vg_block *b = vg_block_prepare(w, l);
    if (!b) {
        w->no_memory = true;
        atomic_store(&l->fault_block, 0);
        return NULL;
    }
    vg_block_start(b, number);
    return b;
}

static void finish_block(struct vg_worker *w, struct vg_block *b)
{
    if (b->text_bytes) {
        w->printed = ptx_grow(w->printed, w->printed_count, &w->printed_room, sizeof *w->printed);
        w->printed[w->printed_count++] = (struct vg_printed){b->number, b->text, b->text_bytes};
        b->text = NULL;
        b->text_bytes = b->text_room = 0;
    }
    atomic_fetch_add(&b->launch->progress, 1);
    b->next = w->idle;
    w->idle = b;
}

/* Gives every resident block a turn. @return whether any did more than spin. */
static bool turn(struct vg_worker *w, struct vg_block **resident, int *count)
{
    bool moved = false;
    for (int i = 0; i < *count;) {
        enum vg_block_state state = vg_block_round(resident[i]);
        moved |= state != VG_BLOCK_QUIET;
        if (state != VG_BLOCK_DONE) {
            i++;
            continue;
        }
        finish_block(w, resident[i]);
        memmove(&resident[i], &resident[i + 1], (size_t)(*count - i - 1) * sizeof *resident);
        (*count)--;
    }
    return moved;
}

/* Takes further blocks beside the residents. @return whether there were any. */
static bool take_more(struct vg_worker *w, struct vg_launch *l, struct vg_block **resident,
                      int *count, int more)
{
    const int before = *count;
    for (; more > 0 && *count < MAX_RESIDENT; more--, (*count)++) {
        if (!(resident[*count] = take_block(w, l)))
            break;
        resident[*count]->is_beside = *count > 0;
    }
    return *count > before;
}

/* One more worker has spun long enough, all the while progress was what it has seen. */
static void say_quiet(struct vg_launch *l, uint32_t seen)
{
    unsigned long long said = atomic_load(&l->quiet), now;
    do {
        const uint32_t of = (uint32_t)(said >> 32);
        if ((int32_t)(of - seen) > 0)
            return; /* there was progress since: this worker is going to see it */
        now = of == seen ? said + 1 : (uint64_t)seen << 32 | 1;
    } while (!atomic_compare_exchange_weak(&l->quiet, &said, now));
}

/* @return whether all workers have said so of the same progress: none is going to make any. */
static bool all_quiet(struct vg_launch *l)
{
    const uint64_t said = atomic_load(&l->quiet);
    return (uint32_t)(said >> 32) == atomic_load(&l->progress) &&
           (uint32_t)said == (uint32_t)atomic_load(&l->active);
}

/* The kernel is ended in all blocks of a worker. */
static void end_blocks(struct vg_worker *w, struct vg_block **resident, int *count)
{
    for (int i = 0; i < *count; i++) {
        vg_block_no_progress(resident[i]);
        finish_block(w, resident[i]);
    }
    *count = 0;
}

static void work(struct vg_worker *w, struct vg_launch *l)
{
    struct vg_block *resident[MAX_RESIDENT];
    int count = 0, patience = PATIENT_ROUNDS, quiet_rounds = 0, more = 1;
    bool stirred = false;
    uint32_t seen = atomic_load(&l->progress);
    w->used_by = l->number;
    w->no_memory = !grow_counts(w, l->module);
    while (!w->no_memory) {
        if (!count && !take_more(w, l, resident, &count, 1))
            break;
        const bool moved = turn(w, resident, &count);
        stirred |= moved;
        if (atomic_load_explicit(&w->device->interrupt, memory_order_relaxed)) {
            atomic_store(&l->fault_block, 0); /* no further blocks */
            end_blocks(w, resident, &count);
            break;
        }
        const uint32_t now = atomic_load(&l->progress);
        if (now != seen || !count) {
            seen = now;
            patience = PATIENT_ROUNDS;
            quiet_rounds = 0;
            more = 1;
            continue;
        }
        if (moved) {
            quiet_rounds = 0;
            more = 1;
            if (--patience < 0) {
                patience = PATIENT_ROUNDS;
                take_more(w, l, resident, &count, 1);
            }
            continue;
        }
        if (take_more(w, l, resident, &count, more)) {
            more *= 2;
            continue;
        }
        sched_yield();
        quiet_rounds++;
        /* What it did before it spun may be what others wait for: they look again. */
        if (stirred && atomic_fetch_add(&l->progress, 1) == seen)
            seen++;
        stirred = false;
        if (quiet_rounds == QUIET_ROUNDS)
            say_quiet(l, seen);
        if (quiet_rounds >= QUIET_ROUNDS && all_quiet(l)) {
            end_blocks(w, resident, &count);
            atomic_fetch_add(&l->progress, 1);
        }
    }
    atomic_fetch_sub(&l->active, 1);
}

static void *worker_main(void *arg)
{
    struct vg_worker *w = arg;
    struct vg_device *d = w->device;
    unsigned seen = 0;
    pthread_mutex_lock(&d->mutex);
    for (;;) {
        while (d->generation == seen && !d->quit)
            pthread_cond_wait(&d->start, &d->mutex);
        if (d->quit)
            break;
        seen = d->generation;
        struct vg_launch *l = d->launch;
        pthread_mutex_unlock(&d->mutex);
        work(w, l);
        pthread_mutex_lock(&d->mutex);
        if (--d->busy == 0)
            pthread_cond_signal(&d->done);
    }
    pthread_mutex_unlock(&d->mutex);
    return NULL;
}

static void start_workers(struct vg_device *d)
{
    for (int i = d->started; i < d->worker_count; i++) {
        if (pthread_create(&d->workers[i].thread, NULL, worker_main, &d->workers[i]) != 0) {
            d->worker_count = i; /* fewer cores, same results */
            return;
        }
        d->started = i + 1;
    }
}

static void run(struct vg_device *d, struct vg_launch *l)
{
    const bool alone = l->blocks == 1 || l->seed || d->one_core;
    d->one_core = false;
    if (!alone && d->worker_count > 1)
        start_workers(d);
    l->concurrent = !alone && d->worker_count > 1;
    atomic_store(&l->active, l->concurrent ? d->worker_count : 1);
    if (!l->concurrent) {
        work(&d->workers[0], l);
        return;
    }
    pthread_mutex_lock(&d->mutex);
    d->launch = l;
    d->busy = d->worker_count - 1;
    d->generation++;
    pthread_cond_broadcast(&d->start);
    pthread_mutex_unlock(&d->mutex);
    work(&d->workers[0], l);
    pthread_mutex_lock(&d->mutex);
    while (d->busy)
        pthread_cond_wait(&d->done, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
}

/* ---- before and after ------------------------------------------------------------------------ */

static enum st_code check_size(const struct vg_profile *p, const struct vg_launch *l,
                               struct st_error *err)
{
    const struct vg_dim g = l->grid, b = l->block;
    const struct ir_function *f = l->kernel->function;
    uint64_t threads = (uint64_t)b.x * b.y * b.z;
    if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
        threads > (uint64_t)p->max_threads_per_block) {
        st_fail(err, ST_USAGE, "a block of %ux%ux%u threads cannot be launched", b.x, b.y, b.z);
        st_detail(err, ST_EXPECTED, "1 to %d threads, at most 1024x1024x64",
                  p->max_threads_per_block);
        return ST_USAGE;
    }
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
        st_fail(err, ST_USAGE, "a grid of %ux%ux%u blocks cannot be launched", g.x, g.y, g.z);
        st_detail(err, ST_EXPECTED, "1 to 2147483647 x 65535 x 65535 blocks");
        return ST_USAGE;
    }
    if (f->max_threads && threads > f->max_threads) {
        st_fail(err, ST_USAGE, "kernel %s was compiled for at most %u threads a block",
                l->kernel->name, f->max_threads);
        st_detail(err, ST_GOT, "%llu", (unsigned long long)threads);
        return ST_USAGE;
    }
    if (l->shared_bytes > p->shared_per_block_optin_bytes) {
        st_fail(err, ST_TOO_LARGE, "kernel %s asks for too much shared memory", l->kernel->name);
        st_detail(err, ST_EXPECTED, "at most %zu bytes a block", p->shared_per_block_optin_bytes);
        st_detail(err, ST_GOT, "%zu static and %zu dynamic bytes", f->shared_bytes,
                  l->dynamic_bytes);
        return ST_TOO_LARGE;
    }
    return ST_OK;
}

/* With a seed the blocks run one after the other, in an order that only the seed decides: positions
 * are taken in steps that have no divisor in common with the number of blocks. */
static void choose_order(struct vg_launch *l)
{
    l->order_step = 1;
    if (!l->device->seed)
        return;
    l->seed = vg_scramble(l->device->seed ^ vg_scramble(l->number));
    l->order_start = l->seed % l->blocks;
    for (uint64_t step = vg_scramble(l->seed) % l->blocks; step + 1 > 0; step++) {
        uint64_t a = step, b = l->blocks;
        while (a) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        if (b == 1) {
            l->order_step = step;
            return;
        }
    }
}

/* Local memory of a thread: what the kernel and the deepest chain of its calls need, when that is
 * known; a stack when calls go through pointers or around in circles. */
static size_t stack_bytes(const struct vg_module *m, const struct ir_function *f, int depth)
{
    if (depth > 32 || f->recursive_or_indirect)
        return RECURSIVE_STACK_BYTES;
    size_t most = 0;
    for (size_t i = 0; i < f->insn_count; i++) {
        const struct ir_insn *in = &f->insns[i];
        if (in->op == IR_ALLOCA)
            return RECURSIVE_STACK_BYTES;
        if (in->op != IR_CALL || m->ir.functions[in->target].builtin)
            continue;
        size_t callee = stack_bytes(m, &m->ir.functions[in->target], depth + 1);
        if (callee == RECURSIVE_STACK_BYTES)
            return callee;
        most = callee > most ? callee : most;
    }
    size_t sum = ((f->local_bytes + 15) & ~(size_t)15) + most;
    return sum > RECURSIVE_STACK_BYTES - 1 && depth ? RECURSIVE_STACK_BYTES : sum;
}

static bool take_parameters(struct vg_launch *l, const void *parameters)
{
    l->parameter_bytes = l->kernel->function->param_bytes;
    l->parameter_copy = calloc(1, l->parameter_bytes + 64);
    if (l->parameter_copy && l->parameter_bytes && parameters)
        memcpy(l->parameter_copy, parameters, l->parameter_bytes);
    return l->parameter_copy != NULL;
}

static int compare_printed(const void *a, const void *b)
{
    const struct vg_printed *x = a, *y = b;
    return x->block < y->block ? -1 : x->block > y->block;
}

static void collect_printed(struct vg_device *d, uint64_t fault_block)
{
    struct vg_printed *all = NULL;
    size_t count = 0, room = 0;
    for (int i = 0; i < d->worker_count; i++) {
        struct vg_worker *w = &d->workers[i];
        for (size_t k = 0; k < w->printed_count; k++) {
            all = ptx_grow(all, count, &room, sizeof *all);
            all[count++] = w->printed[k];
        }
        w->printed_count = 0;
    }
    if (count)
        qsort(all, count, sizeof *all, compare_printed);
    for (size_t i = 0; i < count; i++) {
        if (all[i].block <= fault_block) {
            d->printed =
                ptx_grow(d->printed, d->printed_bytes + all[i].bytes + 1, &d->printed_room, 1);
            memcpy(d->printed + d->printed_bytes, all[i].text, all[i].bytes);
            d->printed_bytes += all[i].bytes;
            d->printed[d->printed_bytes] = '\0';
        }
        free(all[i].text);
    }
    free(all);
}

char *vg_printf_take(struct vg_device *d, size_t *bytes)
{
    char *text = d->printed ? d->printed : calloc(1, 1);
    *bytes = d->printed_bytes;
    d->printed = NULL;
    d->printed_bytes = d->printed_room = 0;
    atomic_store(&d->printing, 0);
    return text;
}

/* Calls visit() once for each allocation that loads (or stores) of this launch touched. */
static void each_touched(struct vg_launch *l, bool of_stores,
                         void (*visit)(struct vg_launch *, struct vg_allocation *, double *),
                         double *sum)
{
    const struct vg_memory *m = &l->device->memory;
    bool *visited = calloc(m->count + 1, sizeof *visited);
    for (uint32_t k = 0; visited && k < l->module->ir.insn_count; k++) {
        const struct ir_insn *in = l->module->insns[k];
        for (int i = 0; in->site && i < l->device->worker_count; i++) {
            const struct vg_worker *w = &l->device->workers[i];
            if (w->used_by != l->number || (in->op == IR_ST) != of_stores)
                continue;
            const struct vg_site *s = &w->sites[in->op == IR_CP_ASYNC ? in->site - 1 : in->site];
            if (!s->span || visited[s->allocation - m->list])
                continue;
            visited[s->allocation - m->list] = true;
            visit(l, s->allocation, sum);
        }
    }
    free(visited);
}

static void add_bytes(struct vg_launch *l, struct vg_allocation *a, double *sum)
{
    (void)l;
    *sum += (double)a->bytes;
}

static void add_bytes_not_in_l2(struct vg_launch *l, struct vg_allocation *a, double *sum)
{
    if (!vg_memory_in_l2(&l->device->memory, a, (double)l->device->profile.l2_bytes))
        *sum += (double)a->bytes;
}

static void pass_l2(struct vg_launch *l, struct vg_allocation *a, double *most)
{
    vg_memory_pass_l2(&l->device->memory, a, fmin((double)a->bytes, *most));
}

/* What is loaded comes from DRAM once, unless earlier work left it in the L2 cache; what is stored
 * goes there as far as the cache does not keep it (an H200 writes back all but 25 of 60 MB). */
static double dram_bytes(struct vg_launch *l, const struct vg_clock_facts *f)
{
    const double kept = 0.4 * (double)l->device->profile.l2_bytes;
    double loaded = 0, stored = 0, read = 32 * f->l2_read_sectors,
           written = 32 * f->l2_write_sectors;
    each_touched(l, false, add_bytes_not_in_l2, &loaded);
    each_touched(l, true, add_bytes, &stored);
    each_touched(l, false, pass_l2, &read);
    each_touched(l, true, pass_l2, &written);
    return fmin(loaded, read) + fmax(0, fmin(stored, written) - kept);
}

static int resident_blocks(const struct vg_launch *l)
{
    int n = vg_clock_resident(&l->device->profile, l->threads, vg_kernel_registers(l->kernel),
                              l->shared_bytes, NULL);
    return n > 0 ? n : 1;
}

/* Loads and stores of spilled registers: as many of all instructions as in the machine code. Where
 * the machine code has no local memory, arrays of the PTX have become registers. */
static void correct_local(const struct vg_kernel *k, struct vg_clock_facts *f,
                          const struct vg_counters *c)
{
    f->local_sectors = (double)(c->local_load_sectors + c->local_store_sectors);
    if (!k->cubin.registers)
        return;
    if (!k->cubin.local_bytes)
        f->local_sectors = 0;
    if (k->cubin.spills && k->cubin.instructions)
        f->local_sectors += 4 * f->issue_slots * k->cubin.spills / k->cubin.instructions;
}

/* Which blocks ran beside the one that faulted depends on the cores: nothing of that launch counts.
 */
static void forget_counts(struct vg_launch *l)
{
    for (int i = 0; i < l->device->worker_count; i++) {
        struct vg_worker *w = &l->device->workers[i];
        if (w->used_by == l->number && !w->no_memory)
            w->no_memory = !grow_counts(w, l->module);
        w->barriers = 0;
    }
}

static void fill_report(struct vg_launch *l, struct vg_launch_report *report)
{
    const struct ir_function *f = l->kernel->function;
    const struct vg_profile *p = &l->device->profile;
    struct vg_clock_facts facts = {.blocks = l->blocks,
                                   .threads = l->threads,
                                   .registers = vg_kernel_registers(l->kernel),
                                   .shared_bytes = l->shared_bytes};
    report->registers = facts.registers;
    report->registers_sm = l->kernel->cubin.registers ? l->kernel->cubin.sm : 0;
    report->static_shared_bytes = f->shared_bytes;
    report->dynamic_shared_bytes = l->dynamic_bytes;
    report->local_bytes = vg_kernel_local_bytes(l->kernel);
    struct vg_tally *tally = vg_tally_launch(l, report, &facts);
    sample_play(l->device->sample, l, resident_blocks(l), tally->sites, &facts);
    correct_local(l->kernel, &facts, &report->counters);
    facts.dram_bytes = dram_bytes(l, &facts);
    const struct path_latencies latencies = {.alu = p->alu_latency_clocks,
                                             .shared = p->shared_latency_clocks,
                                             .global = vg_clock_load_latency(p, &facts),
                                             .atomic = p->l2_latency_clocks};
    facts.warp_clocks = path_clocks(l->module, tally, &latencies);
    vg_tally_free(tally);
    struct vg_clock_result r = vg_clock_kernel(p, &report->counters, &facts);
    report->modelled_ns = r.ns;
    report->occupancy = r.occupancy;
    snprintf(report->limiter, sizeof report->limiter, "%s", r.limiter);
    memcpy(report->term_ns, r.term_ns, sizeof r.term_ns);
    report->dram_bytes = facts.dram_bytes;
    report->l2_read_bytes = 32 * facts.l2_read_sectors;
    report->l2_write_bytes = 32 * facts.l2_write_sectors;
    report->l1_wavefronts = facts.l1_wavefronts + facts.local_sectors / 4;
    l->kernel->tally->last = *report;
    l->kernel->tally->modelled_ns += r.ns;
}

void vg_blocks_keep(struct vg_device *d)
{
    d->keeps_blocks = true;
}

void vg_one_core(struct vg_device *d)
{
    d->one_core = true;
}

void vg_interrupt(struct vg_device *d)
{
    atomic_store(&d->interrupt, true);
}

enum st_code vg_launch(struct vg_device *d, struct vg_kernel *kernel, struct vg_dim grid,
                       struct vg_dim block, size_t dynamic_shared_bytes, const void *parameters,
                       struct vg_launch_report *report, struct st_error *err)
{
    struct ir_function *f = kernel->function;
    memset(report, 0, sizeof *report);
    struct vg_launch l = {.device = d,
                          .kernel = kernel,
                          .module = kernel->module,
                          .grid = grid,
                          .block = block,
                          .dynamic_bytes = dynamic_shared_bytes,
                          .number = ++d->launches};
    l.dynamic_start = (f->shared_bytes + 15) / 16 * 16;
    l.shared_bytes =
        dynamic_shared_bytes ? l.dynamic_start + dynamic_shared_bytes : f->shared_bytes;
    enum st_code code = check_size(&d->profile, &l, err);
    if (code != ST_OK)
        return code;
    if (l.module->has_reserved_shared) {
        l.reserved_start = (l.shared_bytes + 127) / 128 * 128;
        l.shared_bytes = l.reserved_start + VG_RESERVED_SHARED;
    }
    l.threads = block.x * block.y * block.z;
    l.warps = (l.threads + VG_LANES - 1) / VG_LANES;
    l.blocks = (uint64_t)grid.x * grid.y * grid.z;
    choose_order(&l);
    l.local_bytes = (stack_bytes(l.module, f, 0) + 15) & ~(size_t)15;
    l.workspace = d->workspace;
    atomic_store(&d->interrupt, false);
    atomic_store(&l.fault_block, UINT64_MAX);
    if (!take_parameters(&l, parameters))
        return st_fail(err, ST_NO_MEMORY, "no memory for a launch");
    sample_start(d->sample, &l, resident_blocks(&l));
    vg_memory_settle(&d->memory);
    if (l.module->has_malloc) /* allocations in kernels must not move the list */
        d->memory.list = ptx_grow(d->memory.list, d->memory.count + 65536, &d->memory.room,
                                  sizeof *d->memory.list);
    if (d->workspace)
        memset(vg_memory_host(&d->memory, d->workspace), 0, 64);
    run(d, &l);
    bool no_memory = false;
    for (int i = 0; i < d->worker_count; i++)
        no_memory |= d->workers[i].used_by == l.number && d->workers[i].no_memory;
    collect_printed(d, atomic_load(&l.fault_block));
    vg_findings_merge(&l, report);
    vg_additions_end(&l);
    if (report->faulted)
        forget_counts(&l);
    fill_report(&l, report);
    free(l.parameter_copy);
    return no_memory ? st_fail(err, ST_NO_MEMORY, "no memory to run kernel %s", kernel->name)
                     : ST_OK;
}
