#include "base/parallel.h"

#include "base/cgroup.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct loop {
    void (*body)(void *, size_t);
    void *context;
    size_t pieces;
    atomic_size_t next;
};

static void *work(void *arg)
{
    struct loop *loop = arg;
    for (size_t i; (i = atomic_fetch_add(&loop->next, 1)) < loop->pieces;)
        loop->body(loop->context, i);
    return NULL;
}

static pthread_once_t quota_once = PTHREAD_ONCE_INIT;
static double quota; /* a container's limit in cores, read once */

static void read_quota(void)
{
    quota = ceil(cgroup_cores(CGROUPS));
}

int parallel_cores(void)
{
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    pthread_once(&quota_once, read_quota);
    return n > 1 ? (int)fmax(1, fmin(n, quota)) : 1;
}

void parallel_for(size_t pieces, void (*body)(void *context, size_t piece), void *context)
{
    enum { MAX_HELPERS = 255 };
    struct loop loop = {.body = body, .context = context, .pieces = pieces};
    pthread_t helpers[MAX_HELPERS];
    size_t wanted = (size_t)parallel_cores(), started = 0;
    if (wanted > pieces)
        wanted = pieces;
    if (wanted > MAX_HELPERS + 1)
        wanted = MAX_HELPERS + 1;
    /* If a thread cannot be started, only speed is lost: the caller does the remaining pieces. */
    while (started + 1 < wanted && pthread_create(&helpers[started], NULL, work, &loop) == 0)
        started++;
    work(&loop);
    for (size_t i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
}

double parallel_crowding(const char *loadavg, int cores)
{
    int runnable = 0;
    if (sscanf(loadavg, "%*f %*f %*f %d/", &runnable) != 1)
        return 1;
    return fmax(1, (double)(runnable - 1) / cores); /* minus the task that read the text */
}

double parallel_crowding_now(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/loadavg", "re");
    if (!file)
        return 1;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    return parallel_crowding(text, parallel_cores());
}
