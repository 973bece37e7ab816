/* A separate thread draws the line, because the threads that know the progress are busy with the
 * work. It allocates nothing and prints with write(), because the process may be forked at any
 * time. */
#include "base/progress.h"

#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Work shorter than QUIET_S is not shown; work longer than PATIENCE_S gets an estimate. */
static const double QUIET_S = 0.3, STEP_S = 0.2, PATIENCE_S = 2;

/* ---- the line --------------------------------------------------------------------------------- */

void progress_take(struct progress_state *p, uint64_t done, uint64_t total, double now_s)
{
    if (done != p->done || total != p->total)
        p->done_s = now_s;
    p->done = done;
    p->total = total;
}

static uint64_t steps_begun(const struct progress_state *p)
{
    return p->from ? atomic_load(&p->from->steps) - p->first_step : 0;
}

/* The time left; 0 if unknown, because nothing is done yet or the work takes longer than expected.
 * The count predicts better than the expected time, unless it counts one step of many. */
static double left_s(const struct progress_state *p, double now_s)
{
    const bool one_step = steps_begun(p) <= 1 && !p->program;
    if (now_s - p->begin_s < PATIENCE_S)
        return 0;
    if (p->total && p->done && p->done <= p->total && one_step)
        return (p->done_s - p->begin_s) / (double)p->done * (double)(p->total - p->done) -
               (now_s - p->done_s);
    return p->expected_s > 0 ? p->expected_s - (now_s - p->begin_s) : 0;
}

char *progress_line(char to[200], const struct progress_state *p, double now_s, size_t columns)
{
    const double left = left_s(p, now_s), took = now_s - p->begin_s;
    const uint64_t steps = steps_begun(p);
    size_t used = (size_t)snprintf(to, 200, "%s", p->label);
    if (p->total)
        used += (size_t)snprintf(to + used, 200 - used, ": ");
    if (p->total && (steps > 1 || p->program))
        used += (size_t)snprintf(to + used, 200 - used, "kernel %llu, ", (unsigned long long)steps);
    if (p->total)
        used += (size_t)snprintf(to + used, 200 - used, "%llu of %llu%s%s",
                                 (unsigned long long)p->done, (unsigned long long)p->total,
                                 p->unit ? " " : "", p->unit ? p->unit : "");
    if (took >= 1)
        used +=
            (size_t)snprintf(to + used, 200 - used, "%s %ld s", p->total ? "," : ":", (long)took);
    if (left >= 1)
        snprintf(to + used, 200 - used, ", about %ld s left", (long)(left + 0.5));
    if (columns < 200)
        to[columns] = '\0';
    return to;
}

/* ---- the terminal ----------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static struct progress_state now; /* guarded by the mutex, like everything below */
static bool active, drawn, has_thread;
static double active_s; /* when the present work began */

static size_t columns(void)
{
    struct winsize size;
    return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1 ? size.ws_col - 1u : 79;
}

static void put(const char *text, size_t bytes)
{
    const ssize_t ignored = write(STDERR_FILENO, text, bytes);
    (void)ignored;
}

static void draw(void)
{
    char text[220] = "\r", line[200];
    const double now_s = clock_now_s();
    if (now.from)
        progress_take(&now, atomic_load(&now.from->done), atomic_load(&now.from->total), now_s);
    if (now_s - active_s < QUIET_S)
        return;
    strcat(text, progress_line(line, &now, now_s, columns()));
    strcat(text, "\033[K");
    put(text, strlen(text));
    drawn = true;
}

static void *keep_drawing(void *none)
{
    const struct timespec step = {.tv_nsec = (long)(STEP_S * 1e9)};
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (!active)
            pthread_cond_wait(&begun, &mutex);
        draw();
        pthread_mutex_unlock(&mutex);
        nanosleep(&step, NULL);
    }
    return none;
}

/* Blocks all signals in the new thread: existing threads handle them. */
static void start_thread(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_thread = !pthread_create(&thread, NULL, keep_drawing, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_thread)
        pthread_detach(thread);
}

static void begin(const char *label)
{
    now = (struct progress_state){.begin_s = clock_now_s()};
    snprintf(now.label, sizeof now.label, "%s", label);
    if (!active)
        active_s = now.begin_s;
    active = true;
    if (!has_thread)
        start_thread();
    pthread_cond_signal(&begun);
}

struct progress_shared *progress_share(int *fd)
{
    struct progress_shared *memory = MAP_FAILED;
    *fd = isatty(STDERR_FILENO) ? memfd_create("progress", MFD_CLOEXEC) : 0;
    if (*fd > 0 && !ftruncate(*fd, sizeof *memory))
        memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (memory != MAP_FAILED)
        return memory;
    progress_unshare(NULL, fd);
    return NULL;
}

void progress_unshare(struct progress_shared *shared, int *fd)
{
    if (shared)
        munmap(shared, sizeof *shared);
    if (*fd > 0)
        close(*fd);
    *fd = 0;
}

void progress_begin(const char *label, ...)
{
    char text[sizeof now.label];
    va_list args;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(args, label);
    vsnprintf(text, sizeof text, label, args);
    va_end(args);
    pthread_mutex_lock(&mutex);
    begin(text);
    pthread_mutex_unlock(&mutex);
}

void progress_count(size_t done, size_t total, const char *unit)
{
    pthread_mutex_lock(&mutex);
    now.unit = unit;
    progress_take(&now, done, total, active ? clock_now_s() : 0);
    pthread_mutex_unlock(&mutex);
}

void progress_follow(struct progress_shared *shared, const char *unit, bool program)
{
    if (!shared)
        return;
    pthread_mutex_lock(&mutex);
    atomic_store(&shared->done, 0);
    atomic_store(&shared->total, 0);
    now.from = shared;
    now.first_step = atomic_load(&shared->steps);
    now.unit = unit;
    now.program = program;
    pthread_mutex_unlock(&mutex);
}

void progress_expect(double seconds)
{
    pthread_mutex_lock(&mutex);
    now.expected_s = seconds;
    pthread_mutex_unlock(&mutex);
}

void progress_show(const char *label, size_t done, size_t total)
{
    if (!isatty(STDERR_FILENO))
        return;
    pthread_mutex_lock(&mutex);
    if (!active || strcmp(now.label, label) != 0)
        begin(label);
    progress_take(&now, done, total, clock_now_s());
    pthread_mutex_unlock(&mutex);
}

void progress_clear(void)
{
    pthread_mutex_lock(&mutex);
    if (drawn)
        put("\r\033[K", 4);
    active = drawn = false;
    now.from = NULL;
    pthread_mutex_unlock(&mutex);
}
