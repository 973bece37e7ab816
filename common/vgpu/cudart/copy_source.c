/* The source of an asynchronous copy from page-locked memory must not change before something has
 * waited for the copy. The virtual GPU copies at once, so it would hide this mistake. Without any
 * further call the host cannot know that the copy is complete: a sample of the source must be the
 * same at the next call. */
#include "vgpu/cudart/shim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES = 64 };

static struct {
    pthread_mutex_t lock;
    _Atomic(const char *) at; /* NULL: no copy since the last call */
    size_t bytes;
    uint64_t sum;
    char api[64];
} source = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* @return a checksum of words at equal distances, the first and the last among them. */
static uint64_t sample(const char *from, size_t bytes)
{
    uint64_t sum = bytes;
    const size_t last = bytes >= sizeof sum ? bytes - sizeof sum : 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t word = 0;
        memcpy(&word, from + last * i / (SAMPLES - 1), bytes < sizeof word ? bytes : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

/* @return whether the source is still mapped. The program may have freed memory that it registered
 * as page-locked. (With MS_ASYNC, msync() only looks for pages that are not mapped.) */
static bool is_mapped(const char *from, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)from & ~(page - 1);
    return msync((void *)at, bytes + ((uintptr_t)from - at), MS_ASYNC) == 0;
}

void rt_source_note(const void *from, size_t bytes, const char *api)
{
    pthread_mutex_lock(&source.lock);
    source.bytes = bytes;
    source.sum = sample(from, bytes);
    strncpy(source.api, api, sizeof source.api - 1);
    atomic_store(&source.at, from);
    pthread_mutex_unlock(&source.lock);
}

bool rt_source_changed(char text[RT_SOURCE_TEXT])
{
    if (!atomic_load_explicit(&source.at, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&source.lock);
    const char *at = atomic_exchange(&source.at, NULL);
    const bool changed =
        at && is_mapped(at, source.bytes) && sample(at, source.bytes) != source.sum;
    if (changed)
        snprintf(text, RT_SOURCE_TEXT,
                 "the host changed the page-locked memory at %p before %s, which copies %zu bytes "
                 "from there, was complete (hint: call cudaStreamSynchronize() first)",
                 (const void *)at, source.api, source.bytes);
    pthread_mutex_unlock(&source.lock);
    return changed;
}
