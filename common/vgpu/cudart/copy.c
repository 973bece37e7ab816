/* Copies: every copy moves rows of bytes through the window, in pieces that fit. */
#include "vgpu/cudart/graph.h"

#include <string.h>

/* A piece: several adjacent rows, or a part of one row. */
struct piece {
    size_t row, column, rows, width;
};

/* Pieces use the halves of the window alternately, so that the device copies a piece while the
 * program copies the next. */
enum { HALF_BYTES = VP_WINDOW_BYTES / 2 };

/* Sets @p p to the next piece; to the first if its width is 0. @return false at the end. */
static bool piece_next(struct piece *p, size_t width, size_t height)
{
    if (p->width == 0)
        *p = (struct piece){0, 0, 0, 0};
    else if (p->column + p->width < width)
        p->column += p->width;
    else
        *p = (struct piece){p->row + p->rows, 0, 0, 0};
    if (p->row >= height)
        return false;
    p->width = width - p->column;
    p->rows = 1;
    if (p->width > HALF_BYTES)
        p->width = HALF_BYTES;
    else if (p->column == 0) {
        p->rows = HALF_BYTES / width;
        if (p->rows > height - p->row)
            p->rows = height - p->row;
    }
    return true;
}

/* A copy of rows between the host and the device. */
struct window_copy {
    char *host;
    size_t host_pitch;
    uint64_t device;
    size_t device_pitch, width, height;
    bool in; /* to the device */
    cudaStream_t stream;
    unsigned flags;
    const char *api;
};

static void piece_pack(const struct window_copy *w, const struct piece *p, size_t half)
{
    for (size_t i = 0; i < p->rows; i++)
        memcpy(rt_window() + half + i * p->width,
               w->host + (p->row + i) * w->host_pitch + p->column, p->width);
}

static void piece_unpack(const struct window_copy *w, const struct piece *p, size_t half)
{
    for (size_t i = 0; i < p->rows; i++)
        memcpy(w->host + (p->row + i) * w->host_pitch + p->column,
               rt_window() + half + i * p->width, p->width);
}

static struct call piece_call(const struct window_copy *w, const struct piece *p, size_t half)
{
    struct piece next = *p;
    const bool first = p->row == 0 && p->column == 0,
               last = !piece_next(&next, w->width, w->height);
    return rt_call(w->in ? VP_COPY_IN : VP_COPY_OUT, first ? w->api : "", w->stream,
                   w->device + p->row * w->device_pitch + p->column, p->width, p->rows,
                   w->device_pitch, half, last, w->flags);
}

/* Both functions move all pieces and leave the last request in @p c. Only the first piece may wait
 * for kernels, so it is complete before the second is requested. @pre the lock is held */
static cudaError_t pieces_in(const struct window_copy *w, struct call *c)
{
    struct piece p = {0};
    size_t half = 0;
    bool is_sent = false;
    piece_next(&p, w->width, w->height);
    piece_pack(w, &p, half);
    *c = piece_call(w, &p, half);
    cudaError_t error = rt_exchange(c);
    while (!error && piece_next(&p, w->width, w->height)) {
        half = HALF_BYTES - half;
        piece_pack(w, &p, half);
        if (is_sent && (error = rt_receive(c)))
            return error;
        *c = piece_call(w, &p, half);
        error = rt_send(c);
        is_sent = true;
    }
    return error || !is_sent ? error : rt_receive(c);
}

static cudaError_t pieces_out(const struct window_copy *w, struct call *c)
{
    struct piece p = {0};
    size_t half = 0;
    piece_next(&p, w->width, w->height);
    *c = piece_call(w, &p, half);
    cudaError_t error = rt_exchange(c);
    for (bool more = true; !error && more; half = HALF_BYTES - half) {
        const struct piece here = p;
        more = piece_next(&p, w->width, w->height);
        if (more) {
            *c = piece_call(w, &p, HALF_BYTES - half);
            error = rt_send(c);
        }
        piece_unpack(w, &here, half);
        if (more && !error)
            error = rt_receive(c);
    }
    return error;
}

static cudaError_t copy_window(struct window_copy w)
{
    cudaError_t error = rt_profile() ? cudaSuccess : rt_request(VP_CALL, w.api, 0);
    struct call c;
    if (rt_is_pinned(w.host))
        w.flags |= VP_PINNED;
    rt_queue_drain();
    if (error)
        return error;
    rt_lock();
    error = w.in ? pieces_in(&w, &c) : pieces_out(&w, &c);
    rt_printf_take(&c);
    rt_unlock();
    return error;
}

/* Lets the device copy page-locked memory that it shares. @return false: the memory is not
 * shared */
static bool copy_shared(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t height, bool in, cudaStream_t stream, unsigned flags,
                        const char *api, cudaError_t *error)
{
    const size_t pitch = in ? from_pitch : to_pitch, bytes = (height - 1) * pitch + width;
    const uint64_t shared = rt_shared_address(in ? from : to, bytes);
    if (!shared)
        return false;
    rt_queue_drain();
    *error = rt_request(VP_COPY_SHARED, api, stream, in ? HANDLE(to) : shared,
                        in ? shared : HANDLE(from), width, height, to_pitch, from_pitch,
                        flags | VP_PINNED | (in ? 0 : VP_TO_HOST));
    if (in && !*error && flags & VP_ASYNC && height == 1 && rt_is_pinned(from))
        rt_source_note(from, bytes, api);
    return true;
}

static cudaError_t copy_host(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                             size_t width, size_t height, const char *api)
{
    cudaError_t error = rt_request(VP_CALL, api, 0);
    for (size_t row = 0; row < height && !error; row++)
        memmove(to + row * to_pitch, from + row * from_pitch, width);
    return error;
}

cudaError_t rt_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, enum cudaMemcpyKind kind, cudaStream_t stream, unsigned flags,
                    const char *api)
{
    if (width == 0 || height == 0)
        return rt_request(VP_CALL, api, stream);
    if (height > 1 && (to_pitch < width || from_pitch < width))
        return cudaErrorInvalidPitchValue;
    const bool to_shared = rt_shared_address(to, 1) != 0,
               from_shared = rt_shared_address(from, 1) != 0;
    const bool to_device = rt_is_device_address(to) && !to_shared,
               from_device = rt_is_device_address(from) && !from_shared;
    /* Page-locked memory has a device address, so any direction is accepted, and ignored, as is
     * "host to host" for any memory (seen on an H200). */
    const bool is_ignored = (to_shared && from_device) || (to_device && from_shared);
    if (kind == cudaMemcpyDefault || kind == cudaMemcpyHostToHost || is_ignored) {
        kind = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                         : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
    }
    struct graph_copy captured = {to, from, to_pitch, from_pitch, width, height, kind};
    if (capture_copy(stream, &captured))
        return cudaSuccess;
    if (height > 1 && to_pitch == width && from_pitch == width) {
        width *= height;
        to_pitch = from_pitch = width;
        height = 1;
    }
    rt_managed_pull(); /* managed variables may be copied */
    /* Addresses are unified: whatever the direction says, device memory is copied as such. Of host
     * memory that ends too early, the device reports the error. */
    if ((kind == cudaMemcpyHostToDevice && !rt_is_host_readable(from, width)) ||
        (kind == cudaMemcpyDeviceToHost && !rt_is_host_readable(to, width)))
        kind = cudaMemcpyDeviceToDevice;
    const bool from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
    const bool to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
    if (kind == cudaMemcpyHostToHost &&
        (!rt_is_host_readable(from, width) || !rt_is_host_readable(to, width)))
        return cudaErrorInvalidValue;
    cudaError_t error;
    if (from_host != to_host && copy_shared(to, to_pitch, from, from_pitch, width, height,
                                            from_host, stream, flags, api, &error))
        return error;
    switch (kind) {
    case cudaMemcpyHostToHost:
        return copy_host(to, to_pitch, from, from_pitch, width, height, api);
    case cudaMemcpyHostToDevice:
        return copy_window((struct window_copy){(char *)(uintptr_t)from, from_pitch, HANDLE(to),
                                                to_pitch, width, height, true, stream, flags, api});
    case cudaMemcpyDeviceToHost:
        return copy_window((struct window_copy){to, to_pitch, HANDLE(from), from_pitch, width,
                                                height, false, stream, flags, api});
    case cudaMemcpyDeviceToDevice:
        return rt_request(VP_COPY_DEVICE, api, stream, HANDLE(to), HANDLE(from), width, height,
                          to_pitch, from_pitch, flags);
    default:
        return cudaErrorInvalidMemcpyDirection;
    }
}

RT(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
   rt_copy(to, bytes, from, bytes, bytes, 1, kind, 0, 0, __func__))
RT(cudaMemcpyAsync,
   (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
   rt_copy(to, bytes, from, bytes, bytes, 1, kind, stream, VP_ASYNC, __func__))

API cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                     size_t n, struct cudaMemcpyAttributes *attributes,
                                     size_t *indices, size_t attribute_count, cudaStream_t stream)
{
    bool valid = to && from && bytes && n && attributes && indices && attribute_count &&
                 attribute_count <= n && indices[0] == 0 && stream && stream != cudaStreamLegacy;
    cudaError_t error = valid ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !error; i++)
        error = rt_copy(to[i], bytes[i], from[i], bytes[i], bytes[i], 1, cudaMemcpyDefault, stream,
                        VP_ASYNC, "cudaMemcpyBatchAsync");
    return rt_return(error);
}

RT(cudaMemcpyPeer, (void *to, int to_device, const void *from, int from_device, size_t bytes),
   to_device || from_device
       ? cudaErrorInvalidDevice
       : rt_copy(to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice, 0, 0, __func__))
RT(cudaMemcpyPeerAsync,
   (void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream),
   to_device || from_device ? cudaErrorInvalidDevice
                            : rt_copy(to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice,
                                      stream, VP_ASYNC, __func__))
RT(cudaMemcpy2D,
   (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind),
   rt_copy(to, to_pitch, from, from_pitch, width, height, kind, 0, 0, __func__))
RT(cudaMemcpy2DAsync,
   (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
    enum cudaMemcpyKind kind, cudaStream_t stream),
   rt_copy(to, to_pitch, from, from_pitch, width, height, kind, stream, VP_ASYNC, __func__))
