/* Tests the data of this process's own threads. */
#include "base/threads.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t worked, may_end;

/* Works for 0.2 s; its name looks like the fields after a name. */
static void *work(void *arg)
{
    struct timespec t;
    pthread_setname_np(pthread_self(), "a) R (b 1 2");
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec == 0 && t.tv_nsec < 200000000);
    sem_post(&worked);
    sem_wait(&may_end);
    return arg;
}

static bool find(pid_t pid, const char *thread, void *context)
{
    struct thread_stat *found = context, stat;
    cr_assert(thread_stat_read(pid, thread, &stat), "%s", thread);
    if (strcmp(stat.name, "a) R (b 1 2") == 0)
        *found = stat;
    return true;
}

static bool stop(pid_t pid, const char *thread, void *context)
{
    (void)pid, (void)thread;
    ++*(int *)context;
    return false;
}

Test(threads, are_found_by_name_with_their_times, .timeout = 30)
{
    pthread_t thread;
    struct thread_stat found = {.cpu_s = -1}, all;
    sem_init(&worked, 0, 0);
    sem_init(&may_end, 0, 0);
    cr_assert_eq(pthread_create(&thread, NULL, work, NULL), 0);
    sem_wait(&worked);
    cr_assert(threads_each(getpid(), find, &found));
    cr_assert_geq(found.cpu_s, 0.15);
    cr_assert(strchr("RS", found.state));
    cr_assert(thread_stat_read(getpid(), NULL, &all));
    cr_assert_geq(all.cpu_s, found.cpu_s);
    int calls = 0;
    cr_assert_not(threads_each(getpid(), stop, &calls));
    cr_assert_eq(calls, 1, "false ends it");
    sem_post(&may_end);
    pthread_join(thread, NULL);
}

Test(threads, of_a_process_that_has_ended_are_none)
{
    int calls = 0;
    struct thread_stat stat = {.state = 'R'};
    cr_assert(threads_each(-1, stop, &calls));
    cr_assert_eq(calls, 0);
    cr_assert_not(thread_stat_read(-1, NULL, &stat));
    cr_assert_eq(stat.state, 0);
}
