/* The queue of host functions: one thread runs them in order. Later requests of other threads wait
 * until the queue is empty, so that the order of streams is kept. */
#include "vgpu/cudart/shim.h"

#include <pthread.h>
#include <stdlib.h>

struct job {
    struct job *next;
    void (*run)(void *data);
    void *data;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first, **last;
    bool started, busy;
} queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .last = &queue.first};

static _Thread_local bool on_queue_thread;

static void __attribute__((noreturn)) jobs_loop(void)
{
    on_queue_thread = true;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (!queue.first)
            pthread_cond_wait(&queue.changed, &queue.lock);
        struct job *job = queue.first;
        queue.first = job->next;
        if (!queue.first)
            queue.last = &queue.first;
        pthread_mutex_unlock(&queue.lock);
        job->run(job->data);
        free(job);
        pthread_mutex_lock(&queue.lock);
        queue.busy = queue.first != NULL;
        pthread_cond_broadcast(&queue.changed);
    }
}

static void *jobs_run(void *context)
{
    jobs_loop();
}

bool rt_queue_is_own_thread(void)
{
    return on_queue_thread;
}

void rt_queue_drain(void)
{
    if (on_queue_thread)
        return;
    pthread_mutex_lock(&queue.lock);
    while (queue.busy)
        pthread_cond_wait(&queue.changed, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

cudaError_t rt_queue_add(void (*run)(void *data), void *data)
{
    struct job *job = malloc(sizeof *job);
    if (!job)
        return cudaErrorMemoryAllocation;
    *job = (struct job){NULL, run, data};
    pthread_mutex_lock(&queue.lock);
    pthread_t thread;
    if (!queue.started && pthread_create(&thread, NULL, jobs_run, NULL) == 0) {
        pthread_detach(thread);
        queue.started = true;
    }
    const bool started = queue.started;
    if (started) {
        *queue.last = job;
        queue.last = &job->next;
        queue.busy = true;
        pthread_cond_broadcast(&queue.changed);
    }
    pthread_mutex_unlock(&queue.lock);
    if (!started)
        free(job);
    return started ? cudaSuccess : cudaErrorOperatingSystem;
}
