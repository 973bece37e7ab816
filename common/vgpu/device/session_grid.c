/* Runs a grid launched by the host or by a kernel, and records the result. */
#include "vgpu/device/client_session.h"
#include "vgpu/probe/occupancy.h"

#include <stdlib.h>

/* Adds a finished grid to the virtual clock. */
static struct tl_span grid_time(struct session *s, const struct grid_run *g,
                                const struct vg_launch_report *report)
{
    const struct vg_profile *p = &s->shared->profile;
    const int threads = (int)(g->block.x * g->block.y * g->block.z);
    const double blocks = (double)g->grid.x * g->grid.y * g->grid.z;
    struct vg_kernel_attributes a;
    vg_kernel_attributes_get(g->kernel, &a);
    const int resident = occupancy_blocks(p, &a, threads, g->dynamic_shared_bytes);
    const double share = resident ? blocks / ((double)resident * p->multiprocessors) : 1;
    const struct vg_clock_use use = vg_clock_use_of(
        report->term_ns, report->balance, report->scheduler_balance, share, report->modelled_ns);
    return timeline_kernel(&s->time, g->time, report->modelled_ns, share, &use);
}

static void grid_record(struct session *s, const struct grid_run *g, struct tl_span span,
                        const struct vg_launch_report *report)
{
    struct record *record = s->shared->record;
    const struct record_row row = {.kind = "kernel",
                                   .name = g->name,
                                   .client = s->number,
                                   .stream = g->stream,
                                   .span = span,
                                   .bytes = -1,
                                   .launch = report,
                                   .symbol = vg_kernel_symbol(g->kernel),
                                   .grid = g->grid,
                                   .block = g->block,
                                   .error = s->sticky};
    record_trace(record, &row);
    if (record_wants_work(record))
        record_work_kernel(record, vg_kernel_symbol(g->kernel), g->ptx_hash, g->sent_bytes, &row);
}

/* Prints what the kernel of a program that has ended had found, and where the kernel was. */
static void say_cut(struct session *s, const struct grid_run *g)
{
    const struct vg_fault *faults;
    char at[300] = "";
    for (size_t i = s->faults_printed, n = vg_faults(s->device, &faults); i < n; i++)
        if (faults[i].kind == VG_FAULT_NO_PROGRESS && faults[i].file[0])
            snprintf(at, sizeof at, " in the loop at %s:%d", faults[i].file, faults[i].line);
    record_findings_print(s->shared->record, s->device, &s->faults_printed, true);
    say("the program ended while %s was running%s (hint: call cudaDeviceSynchronize(); if the program did, does the kernel end?)",
        g->name, at);
}

bool session_grid_run(struct session *s, const struct grid_run *g, struct tl_span *span)
{
    struct session_shared *shared = s->shared;
    struct vg_launch_report report = {0};
    struct st_error err;
    pthread_mutex_lock(&shared->running_lock);
    shared->running = s;
    shared->launches++;
    s->pending_since_s = 0;
    s->running_on = g->stream;
    pthread_mutex_unlock(&shared->running_lock);
    enum st_code code = vg_launch(s->device, g->kernel, g->grid, g->block, g->dynamic_shared_bytes,
                                  g->parameters, &report, &err);
    pthread_mutex_lock(&shared->running_lock);
    shared->running = NULL;
    bool interrupted = s->interrupted;
    pthread_mutex_unlock(&shared->running_lock);
    if (interrupted) {
        say_cut(s, g);
        free(report.blocks);
        return false;
    }
    record_findings_print(shared->record, s->device, &s->faults_printed, false);
    if (code) {
        say_error("the kernel could not be run", &err);
        s->sticky = code == ST_NO_MEMORY ? VP_OUT_OF_MEMORY : VP_LAUNCH_FAILURE;
    } else if (report.faulted) {
        s->sticky = fault_error(report.fault);
    }
    *span = grid_time(s, g, &report);
    grid_record(s, g, *span, &report);
    free(report.blocks);
    return !s->sticky;
}
