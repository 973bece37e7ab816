/* Freezing is a loop: list the processes, stop those that run, list them again. A process may start
 * another one after being listed and before being stopped, so the loop ends only when two
 * consecutive lists have the same length, and all processes of both lists stand still.
 * A stopped process cannot start others. */
#include "grader/sandbox/process_tree.h"

#include "base/clock.h"
#include "base/threads.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool contains(const struct gr_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->n; i++)
        if (tree->pid[i] == pid)
            return true;
    return false;
}

static void add_one(struct gr_tree *tree, pid_t pid)
{
    if (tree->n < GR_TREE_MAX && !contains(tree, pid))
        tree->pid[tree->n++] = pid;
}

static bool add_children(pid_t pid, const char *thread, void *context)
{
    char path[128];
    long child;
    snprintf(path, sizeof path, "/proc/%ld/task/%s/children", (long)pid, thread);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%ld", &child) == 1)
        add_one(context, (pid_t)child);
    if (f)
        fclose(f);
    return true;
}

void gr_tree_children(struct gr_tree *tree, pid_t parent)
{
    tree->n = 0;
    threads_each(parent, add_children, tree);
}

void gr_tree_add_below(struct gr_tree *tree, pid_t root)
{
    size_t at = tree->n;
    threads_each(root, add_children, tree);
    for (; at < tree->n; at++)
        threads_each(tree->pid[at], add_children, tree);
}

void gr_tree_add(struct gr_tree *tree, pid_t root)
{
    const size_t at = tree->n;
    add_one(tree, root);
    if (tree->n > at)
        gr_tree_add_below(tree, root);
}

/* The state in which a process was found. */
struct motion {
    bool stopped; /* all threads are stopped or have ended */
    bool still;   /* other threads are waiting in the kernel for a device, or for the child of their
                     vfork(), and will stop before they return from there */
};

static bool look_at_thread(pid_t pid, const char *thread, void *context)
{
    struct motion *motion = context;
    struct thread_stat stat;
    if (!thread_stat_read(pid, thread, &stat))
        return true;
    if (!strchr("TtZXx", stat.state)) {
        motion->stopped = false;
        motion->still = motion->still && stat.state == 'D';
    }
    return motion->still;
}

static void rest_a_little(int round)
{
    const long ns = round < 10 ? 20000L : 500000L;
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

bool gr_tree_freeze(struct gr_tree *tree, gr_tree_lister *list, void *context, double limit_s)
{
    enum { PATIENCE_S = 60 }; /* on a busy machine, a process stops late */
    const double start_s = clock_now_s();
    size_t still_before = GR_TREE_MAX + 1, before = 0;
    pid_t newest_before = 0;
    for (int round = 0;; round++) {
        bool still = true;
        tree->n = 0;
        list(tree, context);
        for (size_t i = 0; i < tree->n; i++) {
            struct motion motion = {true, true};
            threads_each(tree->pid[i], look_at_thread, &motion);
            if (!motion.stopped)
                kill(tree->pid[i], SIGSTOP);
            still = still && motion.still;
        }
        if (still && tree->n == still_before)
            return tree->n < GR_TREE_MAX;
        still_before = still ? tree->n : GR_TREE_MAX + 1;
        const pid_t newest = tree->n ? tree->pid[tree->n - 1] : 0;
        const bool grows = round > 0 && (tree->n > before || newest != newest_before);
        if (clock_now_s() > start_s + (grows ? limit_s : limit_s + PATIENCE_S))
            return false;
        before = tree->n;
        newest_before = newest;
        if (!still)
            rest_a_little(round);
    }
}

void gr_tree_thaw(const struct gr_tree *tree)
{
    for (size_t i = tree->n; i-- > 0;)
        kill(tree->pid[i], SIGCONT);
}

double gr_tree_cpu_s(const struct gr_tree *tree)
{
    double sum_s = 0;
    for (size_t i = 0; i < tree->n; i++) {
        struct thread_stat stat;
        thread_stat_read(tree->pid[i], NULL, &stat);
        sum_s += stat.cpu_s + stat.children_s;
    }
    return sum_s;
}

size_t gr_tree_memory_bytes(const struct gr_tree *tree, size_t shared_bytes)
{
    size_t sum = 0;
    for (size_t i = 0; i < tree->n; i++) {
        char path[64], line[128];
        size_t kib, own = 0, shared = 0, tables = 0;
        snprintf(path, sizeof path, "/proc/%ld/status", (long)tree->pid[i]);
        FILE *f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f)) {
            if (sscanf(line, "RssAnon: %zu", &kib) == 1)
                own = kib << 10;
            else if (sscanf(line, "RssShmem: %zu", &kib) == 1)
                shared = kib << 10;
            else if (sscanf(line, "VmPTE: %zu", &kib) == 1)
                tables = kib << 10;
        }
        if (f)
            fclose(f);
        sum += own + tables + (shared > shared_bytes ? shared - shared_bytes : 0);
    }
    return sum;
}
