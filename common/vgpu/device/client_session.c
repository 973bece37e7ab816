#include "vgpu/device/client_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static bool window_make(struct session *s)
{
    s->window_fd = memfd_create("vgpu-window", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->window_fd < 0 || ftruncate(s->window_fd, (off_t)VP_WINDOW_BYTES))
        return false;
    /* The seal prevents a client from shrinking the window, which would kill the device with
     * SIGBUS. */
    if (fcntl(s->window_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return false;
    void *at = mmap(NULL, VP_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->window_fd, 0);
    s->window = at == MAP_FAILED ? NULL : at;
    return s->window != NULL;
}

static enum st_code context_open(struct session *s, struct st_error *err)
{
    timeline_start(&s->time, &s->shared->profile);
    s->thread = s->thread_count = 0; /* their times are of the timeline before */
    s->legacy = (struct stream){.time = {.blocking = true, .is_legacy = true}};
    s->per_thread = (struct stream){.time.blocking = true};
    s->modules.base = s->kernels.base = 1;
    s->streams.base = s->events.base = 0x100;
    s->memories.base = 0x1000;
    s->sticky = VP_OK;
    s->moved_bytes[0] = s->moved_bytes[1] = 0;
    enum st_code code = vg_device_open(&s->device, &s->shared->profile, s->shared->cores, err);
    if (!code)
        vg_device_seed(s->device, s->shared->seed);
    if (!code)
        vg_late_copies_set(s->device, session_copy_is_late, s);
    if (!code)
        vg_device_engine_set(s->device, s->shared->engine, s->shared->find_translator);
    if (!code && s->shared->is_brief)
        vg_device_brief_set(s->device);
    if (!code && record_wants_work(s->shared->record))
        vg_blocks_keep(s->device);
    if (!code && record_wants_blocks(s->shared->record))
        vg_blocks_record(s->device);
    s->proof.proved = s->shared->proved;
    if (!code)
        code = session_proof_start(&s->proof, s->device, err);
    return code;
}

void session_record(struct session *s)
{
    struct st_error ignored;
    session_copies_settle(s);
    session_host_settle(s);
    s->host_tensors = 0;
    if (s->device && record_proof(s->shared->record)) {
        session_proof_write(&s->proof, s->device, record_proof(s->shared->record));
        session_proof_start(&s->proof, s->device, &ignored);
    }
    if (s->device)
        record_device(s->shared->record, s->device, &s->reported,
                      s->interrupted && !s->shared->owned);
}

static void context_close(struct session *s)
{
    session_order_drop(s);
    session_races_drop(s);
    if (s->shared->leak_check && s->device)
        session_leaks_report(s);
    session_record(s);
    session_exports_end(s, 0);
    vg_device_close(s->device);
    s->device = NULL;
    session_ranges_end(s);
    free(s->reported.counts);
    s->reported = (struct record_reported){0};
    s->faults_printed = 0;
    handles_clear(&s->kernels, free);
    handles_clear(&s->modules, session_module_free); /* vg_device_close() frees the rest */
    handles_clear(&s->streams, free);
    handles_clear(&s->events, free);
    for (size_t i = 0; i < s->allocation_count; i++) {
        s->shared->mapped_bytes -= s->allocations[i].mapped_bytes;
        free(s->allocations[i].seen);
    }
    free(s->allocations);
    s->allocations = NULL;
    s->allocation_count = 0;
    free(s->image);
    s->image = NULL;
    s->image_bytes = 0;
    session_units_free(s);
}

struct session *session_open(struct session_shared *shared, int fd, int number)
{
    struct session *s = calloc(1, sizeof *s);
    struct st_error err;
    if (!s) {
        close(fd);
        return NULL;
    }
    s->shared = shared;
    s->fd = fd;
    s->number = number;
    s->window_fd = -1;
    if (!window_make(s)) {
        say("out of memory for a client's copy window: %s", strerror(errno));
    } else if (context_open(s, &err) != ST_OK) {
        say_error("cannot open a device", &err);
    } else {
        return s;
    }
    session_close(s);
    return NULL;
}

void session_close(struct session *s)
{
    if (!s)
        return;
    context_close(s);
    if (s->printed_bytes > s->printed_taken)
        say("%zu bytes that kernels printed were not shown: the program ended without synchronising (hint: call cudaDeviceSynchronize() after the last launch)",
            s->printed_bytes - s->printed_taken);
    free(s->printed);
    if (s->window)
        munmap(s->window, VP_WINDOW_BYTES);
    if (s->window_fd >= 0)
        close(s->window_fd);
    close(s->fd);
    free(s);
}

SESSION_OP(HELLO)
{
    if (x->request.a[0] != VP_VERSION) {
        say("the program's libcudart.so.13 and the device process have different versions (hint: build both again)");
        return VP_NO_DEVICE;
    }
    memcpy(x->reply_payload, &s->shared->profile, sizeof s->shared->profile);
    x->reply.payload_bytes = sizeof s->shared->profile;
    x->reply_fd = fcntl(s->window_fd, F_DUPFD_CLOEXEC, 3);
    return VP_OK;
}

SESSION_OP(RESET)
{
    (void)x;
    struct st_error err;
    /* As on real hardware, waits for all work. */
    double now = s->time.host_ns > s->time.all_end_ns ? s->time.host_ns : s->time.all_end_ns;
    bool broken = s->sticky != VP_OK;
    context_close(s);
    enum st_code code = context_open(s, &err);
    s->time.host_ns = now;
    if (broken) /* as on real hardware: a process whose kernel faulted gets no second context */
        s->sticky = VP_UNAVAILABLE;
    return code ? session_error(s, code, &err, "cannot reset the device") : VP_OK;
}

SESSION_OP(CALL)
{
    (void)s, (void)x;
    return VP_OK;
}

SESSION_OP(FENCE)
{
    (void)x;
    timeline_learn(&s->time, TL_ALL);
    return VP_OK;
}

void session_printf_collect(struct session *s)
{
    size_t bytes = 0;
    char *text = s->device ? vg_printf_take(s->device, &bytes) : NULL;
    if (bytes > VG_PRINT_BYTES_MAX)
        say("kernels printed more than %zu MiB; the rest is lost", VG_PRINT_BYTES_MAX >> 20);
    if (s->printed_bytes - s->printed_taken > VG_PRINT_BYTES_MAX)
        bytes = 0; /* drops the text if the client does not read it */
    if (text && bytes) {
        if (s->printed_taken) {
            memmove(s->printed, s->printed + s->printed_taken, s->printed_bytes - s->printed_taken);
            s->printed_bytes -= s->printed_taken;
            s->printed_taken = 0;
        }
        char *more = realloc(s->printed, s->printed_bytes + bytes);
        if (more) {
            memcpy(more + s->printed_bytes, text, bytes);
            s->printed = more;
            s->printed_bytes += bytes;
        }
    }
    free(text);
}

SESSION_OP(PRINTF_TAKE)
{
    session_printf_collect(s);
    size_t left = s->printed_bytes - s->printed_taken;
    size_t now = left < VP_WINDOW_BYTES ? left : VP_WINDOW_BYTES;
    if (now)
        memcpy(s->window, s->printed + s->printed_taken, now);
    s->printed_taken += now;
    x->reply.r[0] = now;
    x->reply.r[1] = left - now;
    return VP_OK;
}
