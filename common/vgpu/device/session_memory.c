/* Allocations, copies and fills of a client. */
#include "vgpu/device/client_session.h"
#include "vgpu/device/memory_limit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)4096)

SESSION_OP(ALLOC)
{
    struct st_error err;
    uint64_t address = 0;
    size_t bytes = x->request.a[0];
    timeline_learn(&s->time, TL_ALL); /* many allocations wait for all work */
    enum st_code code = vg_memory_alloc(s->device, bytes, &address, &err);
    if (code)
        return session_error(s, code, &err, x->request.api);
    struct allocation a = {.address = address, .bytes = bytes, .kind = VP_MEMORY_DEVICE};
    if (!session_allocation_add(s, a)) {
        vg_memory_free(s->device, address, &err);
        return VP_OUT_OF_MEMORY;
    }
    x->reply.r[0] = address;
    return VP_OK;
}

SESSION_OP(ALLOC_SHARED)
{
    struct st_error err;
    size_t bytes = x->request.a[0];
    if (bytes == 0 || bytes > s->shared->profile.global_bytes)
        return bytes ? VP_OUT_OF_MEMORY : VP_INVALID_VALUE;
    size_t mapped = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    struct allocation a = {.bytes = bytes,
                           .mapped_bytes = mapped,
                           .kind = x->request.a[1] ? VP_MEMORY_MANAGED : VP_MEMORY_PINNED};
    a.is_tensor =
        s->shared->host_tensors && a.kind == VP_MEMORY_PINNED && s->host_tensors < VG_PROOF_TENSORS;
    /* No process's counts include pages that a client wrote and then unmapped. */
    if (s->shared->mapped_bytes + mapped > memory_limit_bytes()) {
        say("%s: the limit of page-locked and managed memory is %zu MiB in total", x->request.api,
            memory_limit_bytes() >> 20);
        return VP_OUT_OF_MEMORY;
    }
    int fd = memfd_create("vgpu-shared", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)mapped) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        if (fd >= 0)
            close(fd);
        return VP_OUT_OF_MEMORY;
    }
    enum st_code code = vg_memory_alloc_shared(s->device, fd, bytes, &a.address, &err);
    if (code || !session_allocation_add(s, a)) {
        if (!code)
            vg_memory_free(s->device, a.address, &err);
        close(fd);
        return code ? session_error(s, code, &err, x->request.api) : VP_OUT_OF_MEMORY;
    }
    s->shared->mapped_bytes += mapped;
    if (a.is_tensor)
        session_proof_host_tensor(&s->proof, s->host_tensors++, a.address, bytes);
    x->reply.r[0] = a.address;
    x->reply.r[1] = mapped;
    x->reply_fd = fd;
    return VP_OK;
}

SESSION_OP(FREE)
{
    struct st_error err;
    uint64_t address = x->request.a[0];
    session_proof_free(&s->proof, s->device, address);
    struct allocation *a = session_allocation_at(s, address);
    bool pinned = x->request.a[1] == VP_MEMORY_PINNED;
    if (a && a->imported) {
        say("%s: 0x%" PRIx64 " is memory of another process (hint: use cudaIpcCloseMemHandle)",
            x->request.api, address);
        return VP_INVALID_VALUE;
    }
    if (a && (a->kind == VP_MEMORY_PINNED) != pinned) {
        say("%s: 0x%" PRIx64 " is %s memory (hint: use %s)", x->request.api, address,
            pinned ? "device" : "page-locked host", pinned ? "cudaFree" : "cudaFreeHost");
        return VP_INVALID_VALUE;
    }
    if (a && x->request.a[2])
        session_races_free(s, x, address, a->bytes);
    enum st_code code = vg_memory_free(s->device, address, &err);
    if (code)
        return session_error(s, code, &err, x->request.api);
    session_exports_end(s, address);
    if (a) {
        if (a->of_graph)
            s->graph_memory[VP_GRAPH_USED] -= a->bytes;
        x->reply.r[0] = a->mapped_bytes;
        session_allocation_remove(s, a);
    }
    /* As on real hardware, freeing waits for all work, unless it is stream-ordered. */
    if (!x->request.a[2])
        timeline_host_until(&s->time, s->time.all_end_ns);
    timeline_learn(&s->time, TL_ALL);
    return VP_OK;
}

SESSION_OP(MEMORY_INFO)
{
    size_t used = session_ranges_bytes(s);
    for (size_t i = 0; i < s->allocation_count; i++) {
        if (s->allocations[i].kind != VP_MEMORY_PINNED)
            used += (s->allocations[i].bytes + 511) / 512 * 512;
    }
    size_t total = s->shared->profile.global_bytes;
    x->reply.r[0] = used < total ? total - used : 0;
    x->reply.r[1] = total;
    return VP_OK;
}

SESSION_OP(POINTER)
{
    uint64_t address = x->request.a[0];
    const struct allocation *a = session_allocation_below(s, address);
    if (a && address - a->address < (a->bytes ? a->bytes : 1)) {
        x->reply.r[0] = a->kind;
        x->reply.r[1] = a->address;
        x->reply.r[2] = a->bytes;
        return VP_OK;
    }
    return session_ranges_pointer(s, x);
}

/* Models the time of a copy after all its pieces were moved. It does not use the size that the
 * client states.
 */
static void copy_time(struct session *s, bool in, struct stream *stream, uint64_t number,
                      uint64_t flags)
{
    /* Pageable memory is staged: its copies are complete when the call returns. */
    const bool pinned = (flags & VP_PINNED) != 0, async = (flags & VP_ASYNC) && pinned;
    double bytes = s->moved_bytes[in];
    s->moved_bytes[in] = 0;
    struct tl_span span = timeline_copy(
        &s->time, &stream->time, in ? TL_HOST_TO_DEVICE : TL_DEVICE_TO_HOST, bytes, pinned, async);
    session_trace_work(s, in ? "copy_htod" : "copy_dtoh", "", number, span, bytes,
                       flags & VP_MANAGED ? "variable"
                       : pinned           ? "pinned"
                                          : "pageable");
}

void session_copies_settle(struct session *s)
{
    for (int in = 0; in < 2; in++)
        if (s->moved_bytes[in] > 0)
            copy_time(s, in, &s->legacy, 0, 0);
}

/* Copies a rectangle between device memory and the window, in which it is packed. */
static int copy_window(struct session *s, struct exchange *x, bool in)
{
    const uint64_t *a = x->request.a;
    uint64_t at = a[0], width = a[1], height = a[2], pitch = a[3], offset = a[4];
    if (!session_rectangle(width, height, pitch) || offset > VP_WINDOW_BYTES ||
        width > VP_WINDOW_BYTES - offset || (width && height > (VP_WINDOW_BYTES - offset) / width))
        return VP_INVALID_VALUE;
    double bytes = (double)width * (double)height;
    session_rows_join(&width, &height, pitch);
    for (uint64_t row = 0; row < height && width; row++) {
        unsigned char *host = s->window + offset + row * width;
        struct st_error err;
        enum st_code code = in ? vg_memory_write(s->device, at + row * pitch, host, width, &err)
                               : vg_memory_read(s->device, host, at + row * pitch, width, &err);
        if (code)
            return session_error(s, code, &err, x->request.api[0] ? x->request.api : "copy");
    }
    session_copy_record(s, in ? "copy_htod" : "copy_dtoh", in ? at : 0, in ? 0 : at, bytes);
    const struct allocation *to = in ? session_allocation_below(s, at) : NULL;
    if (to && at - to->address < to->bytes &&
        !session_proof_upload(&s->proof, s->device, to->address, to->bytes))
        return VP_OUT_OF_MEMORY;
    s->moved_bytes[in] += bytes;
    if (height <= 1 && at == s->races.piece + s->races.piece_bytes)
        s->races.piece_bytes += width;
    else {
        s->races.piece = at;
        s->races.piece_bytes = height <= 1 ? width : 0;
    }
    if (a[5]) {
        session_races_move(s, x, s->races.piece, s->races.piece_bytes, in);
        s->races.piece = s->races.piece_bytes = 0;
        copy_time(s, in, x->stream, x->request.stream, a[6]);
    }
    return VP_OK;
}

SESSION_OP(COPY_IN)
{
    return copy_window(s, x, true);
}

SESSION_OP(COPY_OUT)
{
    return copy_window(s, x, false);
}

SESSION_OP(COPY_DEVICE)
{
    const uint64_t *a = x->request.a, row = a[3] == 1 ? a[2] : 0;
    const double bytes = (double)a[2] * (double)a[3];
    const int error = session_copy_rows(s, a, x->request.api);
    if (error)
        return error;
    session_races_move(s, x, a[0], row, true);
    session_races_move(s, x, a[1], row, false);
    struct tl_span span =
        timeline_copy(&s->time, &x->stream->time, TL_DEVICE_TO_DEVICE, bytes, true, true);
    session_races_moved(s, x, a[0], row, true);
    session_races_moved(s, x, a[1], row, false);
    session_copy_record(s, "copy_dtod", a[0], a[1], bytes);
    session_trace_work(s, "copy_dtod", "", x->request.stream, span, bytes, NULL);
    return VP_OK;
}

SESSION_OP(COPY_SHARED)
{
    const uint64_t *a = x->request.a, device = a[a[6] & VP_TO_HOST ? 1 : 0],
                   row = a[3] == 1 ? a[2] : 0;
    const bool in = !(a[6] & VP_TO_HOST);
    const double bytes = (double)a[2] * (double)a[3];
    const int error = session_copy_rows(s, a, x->request.api);
    if (error)
        return error;
    session_copy_record(s, in ? "copy_htod" : "copy_dtoh", in ? a[0] : 0, in ? 0 : a[1], bytes);
    s->moved_bytes[in] = bytes;
    session_races_move(s, x, device, row, in);
    copy_time(s, in, x->stream, x->request.stream, a[6] | VP_PINNED);
    if (a[6] & VP_ASYNC)
        session_races_moved(s, x, device, row, in);
    return VP_OK;
}

SESSION_OP(FILL)
{
    const uint64_t *a = x->request.a;
    uint64_t to = a[0], width = a[2], height = a[3], pitch = a[4];
    double bytes = (double)width * (double)height;
    if (!session_rectangle(width, height, pitch))
        return VP_INVALID_VALUE;
    session_rows_join(&width, &height, pitch);
    for (uint64_t row = 0; row < height && width; row++) {
        struct st_error err;
        enum st_code code =
            vg_memory_set(s->device, to + row * pitch, (int)(a[1] & 0xff), width, &err);
        if (code)
            return session_error(s, code, &err, x->request.api);
    }
    session_races_move(s, x, to, height == 1 ? width : 0, true);
    struct tl_span span = timeline_fill(&s->time, &x->stream->time, bytes);
    session_races_moved(s, x, to, height == 1 ? width : 0, true);
    session_copy_record(s, "memset", to, 0, bytes);
    session_trace_work(s, "memset", "", x->request.stream, span, bytes, NULL);
    return VP_OK;
}

void session_leaks_report(struct session *s)
{
    enum { MOST = 20 };
    size_t sum = 0;
    for (size_t i = 0; i < s->allocation_count; i++)
        sum += s->allocations[i].bytes;
    const size_t ranges = session_ranges_leaks(s, MOST);
    if (ranges + s->allocation_count)
        record_leaks(s->shared->record, ranges + s->allocation_count);
    if (!s->allocation_count)
        return;
    say("%zu bytes in %zu allocations were never freed", sum, s->allocation_count);
    for (size_t i = 0; i < s->allocation_count && i < MOST; i++) {
        const struct allocation *a = &s->allocations[i];
        char name[128];
        vg_address_name(s->device, a->address, name, sizeof name);
        name[strcspn(name, "+")] = '\0';
        say("    allocation %s: %zu bytes of %s memory", name, a->bytes,
            a->kind == VP_MEMORY_DEVICE   ? "device"
            : a->kind == VP_MEMORY_PINNED ? "page-locked host"
                                          : "managed");
    }
}
