/* The device reserves far more address space than the machine has memory, so neither RLIMIT_DATA
 * nor RLIMIT_AS can limit its used part. RLIMIT_RSS could, but Linux does not enforce it; so a
 * thread checks it a hundred times per second. */
#include "vgpu/device/memory_limit.h"

#include "vgpu/device/device_process.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_INTERVAL_NS = 10000000 };

/* @return the memory of this process, with its page tables. */
static size_t taken_bytes(FILE *status)
{
    char line[128];
    size_t kib, sum = 0;
    rewind(status);
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %zu", &kib) == 1 || sscanf(line, "RssShmem: %zu", &kib) == 1 ||
            sscanf(line, "VmPTE: %zu", &kib) == 1)
            sum += kib << 10;
    return sum;
}

size_t memory_limit_bytes(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_RSS, &limit) || limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX
                                                                            : limit.rlim_cur;
}

static void *keep(void *context)
{
    FILE *status = context;
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_INTERVAL_NS}, NULL);
        const size_t most = memory_limit_bytes();
        if (most != SIZE_MAX && taken_bytes(status) > most)
            _exit(VG_PROCESS_TOO_MUCH);
    }
    return NULL;
}

void memory_limit_keep(void)
{
    pthread_t thread;
    FILE *status = fopen("/proc/self/status", "re");
    if (status)
        setvbuf(status, NULL, _IOFBF, 4096);
    if (status && pthread_create(&thread, NULL, keep, status) == 0)
        pthread_detach(thread);
}
