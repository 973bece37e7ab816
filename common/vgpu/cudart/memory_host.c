/* Memory that host and device share: managed, and page-locked host memory. The device process
 * creates a memfd and chooses the address; this library maps the memfd at that address. So a
 * pointer is valid on both sides, and each side sees writes of the other at once. */
#include "vgpu/cudart/graph.h"

#include "base/array_room.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A range of shared memory, or of ordinary memory that the program has registered. */
struct range {
    uintptr_t at;
    size_t bytes;
    bool registered, managed, read_mostly;
    unsigned flags;
    unsigned accessed_by;                         /* by the device: 1; by the host: 2 */
    struct cudaMemLocation preferred, prefetched; /* type 0: none */
    /* For registered memory: the pages that the device shares, and its address of them; 0: not
     * shared. */
    uintptr_t pages;
    size_t page_bytes;
    uint64_t device;
};

static struct range *ranges;
static size_t range_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool range_add(struct range r)
{
    pthread_mutex_lock(&lock);
    const bool fits = ARRAY_ROOM(ranges, range_count);
    if (fits)
        ranges[range_count++] = r;
    pthread_mutex_unlock(&lock);
    return fits;
}

/* Finds the range that contains an address; @p remove: deletes the range if it starts there. */
static bool range_find(const void *p, bool remove, struct range *to)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count && !found; i++) {
        *to = ranges[i];
        found = remove ? to->at == (uintptr_t)p : (uintptr_t)p - to->at < to->bytes;
        if (found && remove)
            ranges[i] = ranges[--range_count];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool rt_is_device_address(const void *p)
{
    return (uintptr_t)p >= VG_GLOBAL_BASE && (uintptr_t)p < VP_ADDRESS_END;
}

/* ---- host code that accesses device memory --------------------------------------------------- */

/* Names the mistake; after the return, the access fails again and ends the program as usual. */
static void explain_crash(int signal_number, siginfo_t *info, void *context)
{
    static const char digits[] = "0123456789abcdef";
    char line[] = "virtual GPU: the host accesses device memory at 0x................ "
                  "(hint: copy it with cudaMemcpy(), or allocate it with cudaMallocManaged())\n";
    signal(signal_number, SIG_DFL);
    if (!rt_is_device_address(info->si_addr))
        return;
    uint64_t rest = HANDLE(info->si_addr);
    for (char *at = strrchr(line, '.'); *at == '.'; at--, rest >>= 4)
        *at = digits[rest & 15];
    ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
}

void rt_explain_crashes(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    struct sigaction now;
    const struct sigaction ours = {.sa_sigaction = explain_crash,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!atomic_flag_test_and_set(&done) && !sigaction(SIGSEGV, NULL, &now) &&
        now.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &ours, NULL);
}

bool rt_is_host_readable(const void *p, size_t bytes)
{
    struct range r;
    if (!rt_is_device_address(p))
        return p != NULL;
    return range_find(p, false, &r) && bytes <= r.bytes - ((uintptr_t)p - r.at);
}

bool rt_is_pinned(const void *p)
{
    struct range r;
    return range_find(p, false, &r);
}

uint64_t rt_shared_address(const void *p, size_t bytes)
{
    struct range r;
    if (!range_find(p, false, &r) || r.managed || bytes > r.bytes - ((uintptr_t)p - r.at))
        return 0;
    if (!r.registered)
        return HANDLE(p);
    return r.device ? r.device + ((uintptr_t)p - r.pages) : 0;
}

static cudaError_t alloc_shared(void **to, size_t bytes, bool managed, unsigned flags,
                                const char *api)
{
    if (!to)
        return cudaErrorInvalidValue;
    *to = NULL;
    if (bytes == 0)
        return rt_request(VP_CALL, api, 0);
    struct call c = rt_call(VP_ALLOC_SHARED, api, 0, bytes, managed);
    cudaError_t error = rt_exchange(&c);
    if (error)
        return error;
    void *want = POINTER(c.reply.r[0]);
    void *at =
        mmap(want, c.reply.r[1], PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, c.fd, 0);
    close(c.fd);
    if (at == want &&
        range_add((struct range){
            .at = (uintptr_t)at, .bytes = bytes, .managed = managed, .flags = flags})) {
        *to = at;
        return cudaSuccess;
    }
    if (at != MAP_FAILED)
        munmap(at, c.reply.r[1]);
    rt_request(VP_FREE, "", 0, c.reply.r[0], managed ? VP_MEMORY_MANAGED : VP_MEMORY_PINNED);
    return cudaErrorMemoryAllocation;
}

cudaError_t rt_free(void *p, enum vp_memory kind, bool in_order, cudaStream_t stream,
                    const char *api)
{
    struct range r;
    struct call c = rt_call(p ? VP_FREE : VP_CALL, api, stream, HANDLE(p), kind, in_order);
    cudaError_t error = rt_exchange(&c);
    if (!error && p && c.reply.r[0] && range_find(p, true, &r))
        munmap(p, c.reply.r[0]);
    return error;
}

RT(cudaFreeHost, (void *p), rt_free(p, VP_MEMORY_PINNED, false, 0, __func__))
RT(cudaMallocManaged, (void **to, size_t bytes, unsigned flags),
   flags != cudaMemAttachGlobal && flags != cudaMemAttachHost
       ? cudaErrorInvalidValue
       : alloc_shared(to, bytes, true, flags, __func__))
RT(cudaMallocHost, (void **to, size_t bytes), alloc_shared(to, bytes, false, 0, __func__))

API cudaError_t cudaHostAlloc(void **to, size_t bytes, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known)
        return rt_return(cudaErrorInvalidValue);
    return rt_return(alloc_shared(to, bytes, false, flags, "cudaHostAlloc"));
}

API cudaError_t cudaHostGetDevicePointer(void **to, void *p, unsigned flags)
{
    struct range r;
    if (!to || flags || !range_find(p, false, &r))
        return rt_return(cudaErrorInvalidValue);
    if (r.registered && !r.device) {
        static bool said;
        rt_say_once(
            &said,
            "registered memory on the stack cannot be used in kernels (hint: allocate it with malloc or cudaHostAlloc)");
        return rt_return(cudaErrorNotSupported);
    }
    if (r.registered)
        p = (void *)(uintptr_t)(r.device + ((uintptr_t)p - r.pages));
    *to = p;
    return cudaSuccess;
}

API cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    struct range r;
    if (!flags || !range_find(p, false, &r))
        return rt_return(cudaErrorInvalidValue);
    *flags = r.flags;
    return cudaSuccess;
}

/* ---- registered memory: its pages are replaced by memory that the device shares, at the same
 * address and with the same contents ---- */

/* Replaces pages by a mapping of @p fd (-1: ordinary memory) and keeps their contents. The contents
 * are saved in separate pages: a buffer from malloc() could share the last replaced page. */
static bool pages_replace(uintptr_t pages, size_t bytes, int fd)
{
    const int access = PROT_READ | PROT_WRITE, ordinary = MAP_PRIVATE | MAP_ANONYMOUS;
    void *at = (void *)pages, *copy = mmap(NULL, bytes, access, ordinary, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    memcpy(copy, at, bytes);
    const int flags = MAP_FIXED | (fd < 0 ? ordinary : MAP_SHARED);
    const bool replaced = mmap(at, bytes, access, flags, fd, 0) == at;
    if (replaced)
        memcpy(at, copy, bytes);
    munmap(copy, bytes);
    return replaced;
}

/* @return whether a range is in the running thread's stack, which cannot be replaced. */
static bool is_stack(uintptr_t at, size_t bytes)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t room = 0;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return true;
    pthread_attr_getstack(&attributes, &start, &room);
    pthread_attr_destroy(&attributes);
    return at < (uintptr_t)start + room && at + bytes > (uintptr_t)start;
}

static cudaError_t pages_share(struct range *r)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    r->pages = r->at / page * page;
    r->page_bytes = (r->at + r->bytes - r->pages + page - 1) / page * page;
    if (is_stack(r->pages, r->page_bytes))
        return rt_request(VP_CALL, "cudaHostRegister", 0);
    struct call c = rt_call(VP_ALLOC_SHARED, "cudaHostRegister", 0, r->page_bytes);
    cudaError_t error = rt_exchange(&c);
    if (error)
        return error;
    bool shared = pages_replace(r->pages, r->page_bytes, c.fd);
    close(c.fd);
    if (shared)
        r->device = c.reply.r[0];
    else
        rt_request(VP_FREE, "", 0, c.reply.r[0], VP_MEMORY_PINNED);
    return shared ? cudaSuccess : cudaErrorMemoryAllocation;
}

API cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    struct range r;
    if (!p || !bytes)
        return rt_return(cudaErrorInvalidValue);
    if (range_find(p, false, &r))
        return rt_return(cudaErrorHostMemoryAlreadyRegistered);
    r = (struct range){.at = (uintptr_t)p, .bytes = bytes, .registered = true, .flags = flags};
    cudaError_t error = pages_share(&r);
    if (!error && !range_add(r))
        error = cudaErrorMemoryAllocation;
    return rt_return(error);
}

API cudaError_t cudaHostUnregister(void *p)
{
    struct range r;
    if (!range_find(p, false, &r) || !r.registered || !range_find(p, true, &r))
        return rt_return(cudaErrorHostMemoryNotRegistered);
    if (!r.device)
        return rt_return(rt_request(VP_CALL, "cudaHostUnregister", 0));
    /* First wait for kernels that may still write there, then replace the pages. */
    cudaError_t error = rt_request(VP_DEVICE_SYNC, "", 0);
    pages_replace(r.pages, r.page_bytes, -1);
    cudaError_t freed = rt_request(VP_FREE, "cudaHostUnregister", 0, r.device, VP_MEMORY_PINNED);
    return rt_return(error ? error : freed);
}

/* ---- advice: the location of managed memory has no effect here; it is stored per allocation ------ */

static bool is_location(struct cudaMemLocation l)
{
    return l.type == cudaMemLocationTypeDevice
               ? l.id == 0
               : l.type >= cudaMemLocationTypeHost && l.type <= cudaMemLocationTypeHostNumaCurrent;
}

static unsigned location_bit(struct cudaMemLocation l)
{
    return l.type == cudaMemLocationTypeDevice ? 1 : 2;
}

static bool advice_store(struct range *r, int advice, struct cudaMemLocation location)
{
    switch (advice) {
    case 0:
        r->prefetched = location;
        return true;
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
        r->read_mostly = advice == (int)cudaMemAdviseSetReadMostly;
        return true;
    case cudaMemAdviseSetPreferredLocation:
        r->preferred = location;
        return true;
    case cudaMemAdviseUnsetPreferredLocation:
        r->preferred.type = cudaMemLocationTypeInvalid;
        return true;
    case cudaMemAdviseSetAccessedBy:
        r->accessed_by |= location_bit(location);
        return true;
    case cudaMemAdviseUnsetAccessedBy:
        r->accessed_by &= ~location_bit(location);
        return true;
    default:
        return false;
    }
}

/* Stores a prefetch, if @p advice is 0, or advice. @return false for an invalid argument */
static bool advise(const void *p, size_t bytes, int advice, struct cudaMemLocation location)
{
    struct range *r = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count && !r; i++)
        if ((uintptr_t)p - ranges[i].at < ranges[i].bytes)
            r = &ranges[i];
    bool valid = r && bytes && bytes <= r->bytes - ((uintptr_t)p - r->at);
    bool needs_location = advice == 0 || advice == (int)cudaMemAdviseSetPreferredLocation ||
                          advice == (int)cudaMemAdviseSetAccessedBy ||
                          advice == (int)cudaMemAdviseUnsetAccessedBy;
    valid = valid && (!needs_location || is_location(location));
    if (valid)
        valid = advice_store(r, advice, location);
    pthread_mutex_unlock(&lock);
    return valid;
}

API cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation location,
                                     unsigned flags, cudaStream_t stream)
{
    if (!advise(p, bytes, 0, location))
        return rt_return(cudaErrorInvalidValue);
    return rt_return(rt_request(VP_CALL, "cudaMemPrefetchAsync", stream));
}

API cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                              struct cudaMemLocation location)
{
    if (!advise(p, bytes, (int)advice, location))
        return rt_return(cudaErrorInvalidValue);
    return rt_return(rt_request(VP_CALL, "cudaMemAdvise", 0));
}

/* @return the device's number, cudaCpuDeviceId or cudaInvalidDeviceId */
static int location_number(struct cudaMemLocation l)
{
    return l.type == cudaMemLocationTypeInvalid  ? cudaInvalidDeviceId
           : l.type == cudaMemLocationTypeDevice ? l.id
                                                 : cudaCpuDeviceId;
}

API cudaError_t cudaMemRangeGetAttribute(void *to, size_t room, enum cudaMemRangeAttribute which,
                                         const void *p, size_t bytes)
{
    struct range r;
    int value;
    int *out = to;
    if (!to || room < sizeof *out || room % sizeof *out || !range_find(p, false, &r) ||
        !r.managed || !bytes || bytes > r.bytes - ((uintptr_t)p - r.at))
        return rt_return(cudaErrorInvalidValue);
    switch (which) {
    case cudaMemRangeAttributeReadMostly:
        value = r.read_mostly;
        break;
    case cudaMemRangeAttributePreferredLocation:
        value = location_number(r.preferred);
        break;
    case cudaMemRangeAttributeLastPrefetchLocation:
        value = location_number(r.prefetched);
        break;
    case cudaMemRangeAttributePreferredLocationType:
        value = (int)r.preferred.type;
        break;
    case cudaMemRangeAttributePreferredLocationId:
        value = r.preferred.id;
        break;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        value = (int)r.prefetched.type;
        break;
    case cudaMemRangeAttributeLastPrefetchLocationId:
        value = r.prefetched.id;
        break;
    case cudaMemRangeAttributeAccessedBy:
        for (size_t i = 0, host = !(r.accessed_by & 1); i < room / sizeof *out; i++, host++)
            out[i] = host == 0                          ? 0
                     : host == 1 && (r.accessed_by & 2) ? cudaCpuDeviceId
                                                        : cudaInvalidDeviceId;
        return cudaSuccess;
    default:
        return rt_return(cudaErrorInvalidValue);
    }
    if (room != sizeof *out)
        return rt_return(cudaErrorInvalidValue);
    *out = value;
    return cudaSuccess;
}

API cudaError_t cudaMemRangeGetAttributes(void **to, size_t *rooms,
                                          enum cudaMemRangeAttribute *which, size_t n,
                                          const void *p, size_t bytes)
{
    cudaError_t error = to && rooms && which && n ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < n && !error; i++)
        error = cudaMemRangeGetAttribute(to[i], rooms[i], which[i], p, bytes);
    return rt_return(error);
}

RT(cudaStreamAttachMemAsync, (cudaStream_t stream, void *p, size_t bytes, unsigned flags),
   rt_request(VP_CALL, __func__, stream))
