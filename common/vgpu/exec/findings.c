/* Collects findings while a kernel runs, and reports them to the owner of the device. Each worker
 * keeps its own findings, one for each kind and pair of instructions. After the launch they are
 * merged: each finding has the details of the lowest block, whichever worker ran it. */
#include "vgpu/exec/clusters.h"
#include "vgpu/exec/findings.h"
#include "vgpu/exec/block_order.h"
#include "vgpu/exec/child_races.h"
#include "vgpu/exec/proof.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const bool ends_kernel[] = {
#define GOES_ON                      false
#define NOTE                         false
#define ENDS(error)                  true
#define FAULT(id, name, effect, ...) effect,
#include "vgpu/api/fault_kinds.def"
#undef FAULT
};

static struct vg_finding *find_or_add(struct vg_worker *worker, enum vg_fault_kind kind,
                                      uint32_t insn, uint32_t other, uint64_t block, bool *is_new)
{
    for (size_t i = 0; i < worker->finding_count; i++) {
        struct vg_finding *f = &worker->findings[i];
        if (f->fault.kind == kind && f->insn == insn && f->other_insn == other) {
            f->fault.count++;
            /* Several resident blocks do not run in ascending order: the lowest block describes the
             * finding. */
            *is_new = block < f->order;
            return f;
        }
    }
    worker->findings = ptx_grow(worker->findings, worker->finding_count, &worker->finding_room,
                                sizeof *worker->findings);
    struct vg_finding *f = &worker->findings[worker->finding_count++];
    memset(f, 0, sizeof *f);
    f->fault.kind = kind;
    f->fault.count = 1;
    f->insn = insn;
    f->other_insn = other;
    *is_new = true;
    return f;
}

static void set_place(const struct vg_module *module, const struct ir_insn *in, char file[256],
                      int *line)
{
    file[0] = '\0';
    *line = 0;
    if (in->location < 0)
        return;
    snprintf(file, 256, "%s", module->ir.locations[in->location].file);
    *line = module->ir.locations[in->location].line;
}

static void set_thread(struct vg_finding *f, struct vg_dim thread)
{
    f->fault.thread[0] = thread.x;
    f->fault.thread[1] = thread.y;
    f->fault.thread[2] = thread.z;
}

static void fill(struct vg_finding *f, struct vg_warp *w, const struct ir_insn *in, int lane,
                 uint64_t address, uint32_t bytes, bool is_write)
{
    const struct vg_launch *launch = w->block->launch;
    uint32_t thread = (uint32_t)(w->index * VG_LANES + lane);
    f->order = w->block->number;
    memcpy(f->fault.kernel, launch->kernel->name, sizeof f->fault.kernel);
    set_place(launch->module, in, f->fault.file, &f->fault.line);
    memcpy(f->fault.block, w->block->id, sizeof f->fault.block);
    set_thread(f, vg_place(launch->block, thread));
    f->fault.address = address;
    f->fault.access_bytes = (int)bytes;
    f->fault.is_write = is_write;
}

static void stop(struct vg_warp *w, enum vg_fault_kind kind)
{
    if (!ends_kernel[kind])
        return;
    for (uint32_t rank = 0; rank < w->block->cluster->size; rank++)
        w->block->cluster->blocks[rank]->stop = true;
    unsigned long long first = atomic_load(&w->block->launch->fault_block);
    while (w->block->number < first &&
           !atomic_compare_exchange_weak(&w->block->launch->fault_block, &first, w->block->number))
        continue;
}

/* @return whether an element that nothing wrote is read by code that ignores it. (In global memory,
 * too: there CUB keeps elements that are too large for shared memory.) */
static bool is_ignored(const struct vg_warp *w, const struct ir_insn *in, enum vg_fault_kind kind,
                       uint64_t address, uint32_t bytes)
{
    return kind == VG_FAULT_UNINITIALISED && in->location >= 0 &&
           w->block->launch->module->ir.locations[in->location].reads_past &&
           !(address < VG_GLOBAL_BASE && vg_block_has_copied(w->block, address, bytes));
}

void vg_find(struct vg_warp *w, const struct ir_insn *in, enum vg_fault_kind kind, int lane,
             uint64_t address, uint32_t bytes, bool is_write, const char *detail, ...)
{
    if (w->block->stop || is_ignored(w, in, kind, address, bytes))
        return;
    bool is_new;
    struct vg_finding *f = find_or_add(w->worker, kind, in->number, 0, w->block->number, &is_new);
    if (is_new) {
        va_list args;
        va_start(args, detail);
        vsnprintf(f->fault.detail, sizeof f->fault.detail, detail, args);
        va_end(args);
        fill(f, w, in, lane, address, bytes, is_write);
        f->fault.is_copied = kind == VG_FAULT_UNINITIALISED && address < VG_GLOBAL_BASE &&
                             vg_block_has_copied(w->block, address, bytes);
        proof_found(w->block, kind, w->index * VG_LANES + lane, -1);
    }
    stop(w, kind);
}

/* Size of the address windows of shared and of local memory. */
#define WINDOW_BYTES (UINT64_C(1) << 32)

void vg_find_address(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                     uint32_t bytes, bool is_write)
{
    const struct vg_memory *m = &w->worker->device->memory;
    char text[160];
    if (address < 65536) {
        vg_find(w, in, VG_FAULT_INVALID_ADDRESS, lane, address, bytes, is_write,
                address ? "such a small address comes from a null pointer" : "a null pointer");
        return;
    }
    const bool shared = address - VG_SHARED_BASE < WINDOW_BYTES;
    if (shared || address - VG_LOCAL_BASE < WINDOW_BYTES) {
        vg_find(
            w, in, VG_FAULT_INVALID_ADDRESS, lane, address, bytes, is_write,
            in->space == PTX_SPACE_GLOBAL
                ? "an address of %s memory, which this instruction cannot access: it is for global memory, as __ldg() is"
                : "an address of %s memory that this kernel does not have: the pointer comes from another kernel",
            shared ? "shared" : "local");
        return;
    }
    const struct vg_allocation *below = NULL, *above = NULL;
    if (address >= VG_GLOBAL_BASE && address - VG_GLOBAL_BASE < m->arena_bytes) {
        below = vg_memory_below(m, address);
        above = below ? below + 1 : m->list;
        above = above < m->list + m->count ? above : NULL;
    }
    if (!below && !above) {
        vg_find(w, in, VG_FAULT_INVALID_ADDRESS, lane, address, bytes, is_write,
                "not an address of device memory: a host pointer, or a pointer that was never set");
        return;
    }
    uint64_t past = below ? address - below->address : UINT64_MAX;
    const char *refusal = below && past < below->bytes ? vg_range_refusal(below, is_write) : NULL;
    if (refusal) {
        vg_find(w, in, VG_FAULT_NO_ACCESS, lane, address, bytes, is_write,
                "%llu bytes into range #%u (cuMemAddressReserve), %s",
                (unsigned long long)(address - below->range), below->number, refusal);
        return;
    }
    if (below && past < below->bytes && !below->live) {
        vg_allocation_text(below, text, sizeof text);
        vg_find(w, in, VG_FAULT_USE_AFTER_FREE, lane, address, bytes, is_write,
                "%llu bytes into %s, which was freed", (unsigned long long)past, text);
        return;
    }
    uint64_t before = above ? above->address - address : UINT64_MAX;
    if (below && past < below->bytes) {
        vg_allocation_text(below, text, sizeof text);
        vg_find(w, in, VG_FAULT_OUT_OF_BOUNDS, lane, address, bytes, is_write,
                "the last %llu of %u bytes are past the end of %s",
                (unsigned long long)(past + bytes - below->bytes), bytes, text);
        return;
    }
    past = below ? past - below->bytes : UINT64_MAX;
    bool is_past = past <= before;
    vg_allocation_text(is_past ? below : above, text, sizeof text);
    if (is_past && past == 0)
        vg_find(w, in, VG_FAULT_OUT_OF_BOUNDS, lane, address, bytes, is_write,
                "directly past the end of %s%s", text, below->live ? "" : ", which was freed");
    else
        vg_find(w, in, VG_FAULT_OUT_OF_BOUNDS, lane, address, bytes, is_write, "%llu bytes %s %s%s",
                (unsigned long long)(is_past ? past : before),
                is_past ? "past the end of" : "before the start of", text,
                (is_past ? below : above)->live ? "" : ", which was freed");
}

/* A race is reported at the access that comes later in the program: the read of a RAW hazard, the
 * write of the others. It may have been executed first. */
void vg_find_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint32_t address,
                  uint32_t bytes, bool is_write, struct race_hit hit)
{
    enum vg_fault_kind kind = hit.kind == RACE_RAW   ? VG_FAULT_RACE_RAW
                              : hit.kind == RACE_WAR ? VG_FAULT_RACE_WAR
                                                     : VG_FAULT_RACE_WAW;
    const struct vg_module *module = w->block->launch->module;
    const struct ir_insn *late = in, *early = module->insns[hit.other_insn];
    uint32_t mine = w->index * VG_LANES + (uint32_t)lane, late_thread = mine,
             early_thread = hit.other_thread;
    if (hit.kind != RACE_WAW && is_write != (hit.kind == RACE_WAR)) {
        late = early;
        early = in;
        late_thread = hit.other_thread;
        early_thread = mine;
    }
    bool is_new;
    struct vg_finding *f =
        find_or_add(w->worker, kind, late->number, early->number, w->block->number, &is_new);
    if (!is_new)
        return;
    fill(f, w, late, (int)late_thread - w->index * VG_LANES, address, bytes, hit.kind != RACE_RAW);
    set_place(module, early, f->fault.other_file, &f->fault.other_line);
    proof_found(w->block, kind, late_thread, early_thread);
    const struct vg_dim t = vg_place(w->block->launch->block, early_thread);
    if (hit.is_bulk) {
        snprintf(
            f->fault.detail, sizeof f->fault.detail,
            "shared memory at 0x%x: read by this thread while the bulk copy at line %d is not complete: wait for its barrier object first (mbarrier.try_wait)",
            address, f->fault.other_line);
        return;
    }
    if (hit.is_copy) {
        snprintf(
            f->fault.detail, sizeof f->fault.detail,
            "shared memory at 0x%x: read by this thread while the asynchronous copy of thread (%u,%u,%u) at line %d is not complete: that thread must wait for it first (__pipeline_wait_prior)",
            address, t.x, t.y, t.z, f->fault.other_line);
        return;
    }
    snprintf(
        f->fault.detail, sizeof f->fault.detail,
        "shared memory at 0x%x: %s by this thread and %s by thread (%u,%u,%u) at line %d with no %s between",
        address, hit.kind == RACE_RAW ? "read" : "written",
        hit.kind == RACE_WAR ? "read" : "written", t.x, t.y, t.z, f->fault.other_line,
        w->block->warp_count == 1                           ? "__syncwarp"
        : late_thread / VG_LANES == early_thread / VG_LANES ? "__syncthreads (or __syncwarp)"
                                                            : "__syncthreads");
}

void vg_find_cluster_race(const struct vg_cluster_race *r)
{
    const struct vg_launch *launch = r->warp->block->launch;
    bool is_new;
    if (r->warp->block->stop)
        return;
    struct vg_finding *f = find_or_add(r->warp->worker, VG_FAULT_RACE_CLUSTER, r->in->number,
                                       r->other->number, r->warp->block->number, &is_new);
    if (!is_new)
        return;
    fill(f, r->warp, r->in, r->lane, r->address, r->bytes, r->is_write);
    set_place(launch->module, r->other, f->fault.other_file, &f->fault.other_line);
    const struct vg_dim t = vg_place(launch->block, r->other_thread);
    const uint32_t *owner = r->owner->id, *other = r->other_block->id;
    snprintf(
        f->fault.detail, sizeof f->fault.detail,
        "shared memory at 0x%x of block (%u,%u,%u): %s by this thread and %s by thread (%u,%u,%u) of block (%u,%u,%u) at line %d with no %s between",
        r->address, owner[0], owner[1], owner[2], r->is_write ? "written" : "read",
        r->other_writes ? "written" : "read", t.x, t.y, t.z, other[0], other[1], other[2],
        f->fault.other_line,
        r->other_block == r->warp->block ? "__syncthreads"
                                         : "barrier of the cluster (cluster.sync())");
}

void vg_find_child_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                        const struct child_access *other)
{
    const struct vg_launch *l = w->block->launch;
    const struct child_watch *watch = l->child->watch;
    const bool is_write = in->op == IR_ST;
    const struct vg_dim t = vg_place(watch->size, other->thread);
    bool is_new;
    struct vg_finding *f = find_or_add(w->worker, VG_FAULT_CHILD_RACE, in->number, other->insn,
                                       w->block->number, &is_new);
    if (!is_new)
        return;
    fill(f, w, in, lane, address, (uint32_t)in->bytes, is_write);
    set_place(l->module, l->module->insns[other->insn], f->fault.other_file, &f->fault.other_line);
    snprintf(
        f->fault.detail, sizeof f->fault.detail,
        "thread (%u,%u,%u) of block (%u,%u,%u) of %.80s, which launched this grid, %s it at line %d after the launch: nothing orders the two accesses",
        t.x, t.y, t.z, watch->id[0], watch->id[1], watch->id[2], watch->kernel->name,
        is_write ? "reads" : "writes", f->fault.other_line);
}

void vg_find_grid_race(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                       uint32_t insn, uint64_t block, uint32_t thread)
{
    const struct vg_launch *l = w->block->launch;
    const struct ir_insn *other = l->module->insns[insn];
    const struct vg_dim t = vg_place(l->block, thread);
    uint32_t id[3];
    bool is_new;
    const int line = vg_line_of(l->module, in), other_line = vg_line_of(l->module, other);
    for (size_t i = 0; i < w->worker->finding_count; i++) {
        struct vg_finding *f = &w->worker->findings[i];
        if (f->fault.kind == VG_FAULT_RACE_GLOBAL &&
            (line ? f->fault.line == other_line && f->fault.other_line == line
                  : f->insn == insn && f->other_insn == in->number)) {
            f->fault.count++; /* they met in the other order */
            return;
        }
    }
    struct vg_finding *f =
        find_or_add(w->worker, VG_FAULT_RACE_GLOBAL, in->number, insn, w->block->number, &is_new);
    if (!is_new)
        return;
    fill(f, w, in, lane, address, (uint32_t)in->bytes, in->op != IR_LD);
    set_place(l->module, other, f->fault.other_file, &f->fault.other_line);
    vg_block_place(l, block, id);
    snprintf(
        f->fault.detail, sizeof f->fault.detail,
        "%s by this thread and %s by thread (%u,%u,%u) of block (%u,%u,%u) at line %d: no grid.sync() or atomic orders the two blocks",
        in->op == IR_LD   ? "read"
        : in->op == IR_ST ? "written"
                          : "changed by an atomic",
        other->op == IR_LD   ? "read"
        : other->op == IR_ST ? "written"
                             : "changed by an atomic",
        t.x, t.y, t.z, id[0], id[1], id[2], f->fault.other_line);
}

/* @return the line of the branch before an instruction by which threads return early, to the end of
 * the kernel; 0 if there is none, or several. */
static int line_of_return(const struct vg_launch *l, const struct ir_insn *before)
{
    const struct ir_function *f = l->kernel->function;
    int line = 0;
    if (before->number < f->first_insn || before->number >= f->first_insn + f->insn_count)
        return 0; /* in a called function */
    for (const struct ir_insn *in = f->insns; in->number < before->number; in++) {
        const struct ir_insn *to = in->op == IR_BRA ? f->insns + in->target : in;
        while (to->op == IR_ENTER || to->op == IR_ENTER_JOIN)
            to++;
        if ((to->op != IR_RET && to->op != IR_EXIT) || in->location < 0)
            continue;
        const int here = l->module->ir.locations[in->location].line;
        if (line && here != line)
            return 0;
        line = here;
    }
    return line;
}

enum { LEFT_TEXT = sizeof((struct vg_launch_report *)0)->left };

/* Describes the threads that had ended when a barrier opened. */
static void left_text(const struct vg_launch *l, const struct ir_insn *barrier, uint32_t threads,
                      char to[LEFT_TEXT])
{
    const int returned = line_of_return(l, barrier);
    char file[256], at[32] = "";
    int line;
    set_place(l->module, barrier, file, &line);
    if (returned)
        snprintf(at, sizeof at, " at line %d", returned);
    snprintf(to, LEFT_TEXT,
             "%u of the block's %u threads returned%s and never reached the barrier at line %d",
             threads, l->threads, at, line);
}

/* @return text that names the line of a load whose unwritten bytes were copied. */
static const char *copy_text(int line, char text[64])
{
    if (line)
        snprintf(text, 64, " (line %d copied unwritten memory to it)", line);
    else
        snprintf(text, 64, " (the kernel copied unwritten memory to it)");
    return text;
}

/* @return text that names the line that uses a loaded value; "" if it is that of the load. */
static const char *use_text(const struct vg_warp *w, const struct ir_insn *load,
                            const struct ir_insn *use, char text[32])
{
    const struct vg_module *m = w->block->launch->module;
    const int line = use ? vg_line_of(m, use) : 0;
    const bool named = line && load->location >= 0 && line != vg_line_of(m, load) &&
                       m->ir.locations[use->location].file == m->ir.locations[load->location].file;
    text[0] = '\0';
    if (named)
        snprintf(text, 32, "; line %d uses it", line);
    return text;
}

void vg_find_unset_global(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                          uint32_t bytes, const struct ir_insn *use)
{
    const struct vg_memory *m = &w->worker->device->memory;
    const struct vg_allocation *a = vg_memory_below(m, address);
    const enum vg_lateness late = vg_lateness_of(m, address, bytes);
    char text[160], copied[64] = "", used[32];
    vg_allocation_text(a, text, sizeof text);
    if (late) {
        const char *by = late == VG_LATE ? "copy" : "work";
        vg_find(
            w, in, late == VG_LATE ? VG_FAULT_UNINITIALISED : VG_FAULT_RACE_STREAM, lane, address,
            bytes, false,
            "%u bytes of %s, which %s%s in another stream writes: this kernel's stream does not wait for that %s",
            bytes, text, late == VG_LATE ? "a " : "", by, by);
        return;
    }
    if (a->copy_line)
        copy_text(a->copy_line, copied);
    vg_find(w, in, VG_FAULT_UNINITIALISED, lane, address, bytes, false,
            "%u bytes of %s that was never written%s%s", bytes, text, copied,
            use_text(w, in, use, used));
}

void vg_find_unset_local(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                         uint32_t bytes, const struct ir_insn *copy, const struct ir_insn *use)
{
    char copied[64] = "", used[32];
    if (copy)
        copy_text(vg_line_of(w->block->launch->module, copy), copied);
    vg_find(w, in, VG_FAULT_UNINITIALISED, lane, address, bytes, false,
            "a variable in local memory that was never written%s%s", copied,
            use_text(w, in, use, used));
}

void vg_find_unset_shared(struct vg_warp *w, const struct ir_insn *in, int lane, uint64_t address,
                          uint32_t bytes, const struct ir_insn *use)
{
    const struct vg_block *b = w->block;
    char left[LEFT_TEXT], used[32];
    if (!b->absent) {
        char copied[64] = "";
        if (vg_block_has_copied(b, address, bytes))
            copy_text(vg_line_of(b->launch->module, b->unset_copy), copied);
        vg_find(w, in, VG_FAULT_UNINITIALISED, lane, address, bytes, false,
                "shared memory that was never written%s%s", copied, use_text(w, in, use, used));
        return;
    }
    left_text(b->launch, b->absent_at, b->absent, left);
    vg_find(w, in, VG_FAULT_UNINITIALISED, lane, address, bytes, false,
            "shared memory that was never written; %s", left);
}

void vg_find_unset_register(struct vg_launch *l, const struct ir_insn *in, uint64_t threads)
{
    struct vg_worker *w = l->device->workers;
    bool is_new;
    while (w->used_by != l->number)
        w++;
    struct vg_finding *f = find_or_add(w, VG_FAULT_UNINITIALISED, in->number, 0, 0, &is_new);
    memcpy(f->fault.kernel, l->kernel->name, sizeof f->fault.kernel);
    set_place(l->module, in, f->fault.file, &f->fault.line);
    snprintf(
        f->fault.detail, sizeof f->fault.detail,
        "a variable in a register that was never given a value: in %llu threads, not necessarily this one",
        (unsigned long long)threads);
}

void vg_find_block_race(struct vg_warp *w, enum vg_fault_kind kind, uint64_t block, uint32_t thread,
                        uint32_t insn, uint64_t address, uint32_t bytes, const char *text)
{
    const struct vg_launch *launch = w->block->launch;
    const struct ir_insn *in = launch->module->insns[insn];
    bool is_new;
    struct vg_finding *f = find_or_add(w->worker, kind, insn, 0, block, &is_new);
    if (!is_new && !(block == f->order && address < f->fault.address))
        return;
    fill(f, w, in, 0, address, bytes, true);
    f->order = block;
    vg_block_place(launch, block, f->fault.block);
    set_thread(f, vg_place(launch->block, thread));
    snprintf(f->fault.detail, sizeof f->fault.detail, "%s", text);
}

static bool same_finding(const struct vg_fault *a, const struct vg_fault *b)
{
    return a->kind == b->kind && a->line == b->line && a->other_line == b->other_line &&
           strcmp(a->kernel, b->kernel) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->other_file, b->other_file) == 0;
}

static int compare_findings(const void *x, const void *y)
{
    const struct vg_finding *a = x, *b = y;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->fault.kind != b->fault.kind)
        return (int)a->fault.kind - (int)b->fault.kind;
    return a->insn < b->insn ? -1 : a->insn > b->insn;
}

void vg_left_report(struct vg_launch *launch, struct vg_launch_report *report)
{
    const struct vg_device *device = launch->device;
    struct vg_left first = {0};
    for (int i = 0; i < device->worker_count; i++) {
        struct vg_left *left = &device->workers[i].left;
        if (left->barrier && (!first.barrier || left->block < first.block))
            first = *left;
        *left = (struct vg_left){0};
    }
    report->left[0] = '\0';
    if (first.barrier)
        left_text(launch, first.barrier, first.threads, report->left);
}

void vg_findings_merge(struct vg_launch *launch, struct vg_launch_report *report)
{
    struct vg_device *device = launch->device;
    struct vg_finding *all = NULL;
    size_t count = 0, room = 0;
    uint64_t fault_block = atomic_load(&launch->fault_block);
    for (int i = 0; i < device->worker_count; i++) {
        struct vg_worker *worker = &device->workers[i];
        for (size_t k = 0; k < worker->finding_count; k++) {
            struct vg_finding *f = &worker->findings[k], *to = NULL;
            if (f->order > fault_block)
                continue;
            for (size_t n = 0; n < count && !to; n++)
                if (all[n].fault.kind == f->fault.kind && all[n].insn == f->insn &&
                    all[n].other_insn == f->other_insn)
                    to = &all[n];
            if (!to) {
                all = ptx_grow(all, count, &room, sizeof *all);
                all[count++] = *f;
            } else {
                uint64_t sum = to->fault.count + f->fault.count;
                if (f->order < to->order ||
                    (f->order == to->order && f->fault.address < to->fault.address))
                    *to = *f;
                to->fault.count = sum;
            }
        }
        worker->finding_count = 0;
    }
    if (count)
        qsort(all, count, sizeof *all, compare_findings);
    const bool faulted = fault_block != UINT64_MAX;
    for (size_t n = 0; n < count; n++) {
        struct vg_fault *f = &all[n].fault;
        /* These counts are not deterministic: they depend on how many blocks ran beside the
         * faulting one, and on how often the blocks that add to one element alternated. */
        if (faulted || f->kind == VG_FAULT_RACE_GLOBAL || f->kind == VG_FAULT_STORE_ORDER)
            f->count = 1;
        if (ends_kernel[f->kind]) {
            report->faulted = true;
            report->fault = f->kind;
        }
        vg_fault_add(device, f);
    }
    free(all);
}

void vg_fault_add(struct vg_device *device, const struct vg_fault *fault)
{
    size_t k = 0;
    while (k < device->fault_count && !same_finding(&device->faults[k], fault))
        k++;
    if (k < device->fault_count) {
        device->faults[k].count += fault->count;
        return;
    }
    device->faults =
        ptx_grow(device->faults, device->fault_count, &device->fault_room, sizeof *device->faults);
    device->faults[device->fault_count++] = *fault;
}

size_t vg_faults(const struct vg_device *device, const struct vg_fault **faults)
{
    *faults = device->faults;
    return device->fault_count;
}
