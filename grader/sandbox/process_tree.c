/* Freezing is a loop: list, stop running processes, list again. A process may start another one
 * between being listed and being stopped, so the loop ends only when two consecutive lists show the
 * same processes and all of them were still in the first one. A stopped process cannot start
 * others. */
#include "grader/sandbox/process_tree.h"

#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
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

/* Calls a function for each thread of a process until it returns false. @return whether all calls
 * returned true. */
static bool each_thread(pid_t pid, bool (*call)(pid_t pid, const char *thread, void *context),
                        void *context)
{
    char path[64];
    bool good = true;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *threads = opendir(path);
    for (struct dirent *entry; good && threads && (entry = readdir(threads));)
        if (isdigit((unsigned char)entry->d_name[0]))
            good = call(pid, entry->d_name, context);
    if (threads)
        closedir(threads);
    return good;
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
    each_thread(parent, add_children, tree);
}

void gr_tree_add_below(struct gr_tree *tree, pid_t root)
{
    size_t at = tree->n;
    each_thread(root, add_children, tree);
    for (; at < tree->n; at++)
        each_thread(tree->pid[at], add_children, tree);
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
    bool stopped; /* all its threads are stopped or have ended */
    bool still;   /* its other threads wait in the kernel for a device, or for the child of their
                     vfork(), and stop before they return from there */
};

static bool look_at_thread(pid_t pid, const char *thread, void *context)
{
    struct motion *motion = context;
    char path[128], text[512], state = '?';
    snprintf(path, sizeof path, "/proc/%ld/task/%s/stat", (long)pid, thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return true;
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')');
    if (name_end)
        sscanf(name_end + 1, " %c", &state);
    if (!strchr("TtZXx", state)) {
        motion->stopped = false;
        motion->still = motion->still && state == 'D';
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
    const double until_s = clock_now_s() + limit_s;
    size_t still_before = GR_TREE_MAX + 1;
    for (int round = 0;; round++) {
        bool still = true;
        tree->n = 0;
        list(tree, context);
        for (size_t i = 0; i < tree->n; i++) {
            struct motion motion = {true, true};
            each_thread(tree->pid[i], look_at_thread, &motion);
            if (!motion.stopped)
                kill(tree->pid[i], SIGSTOP);
            still = still && motion.still;
        }
        if (still && tree->n == still_before)
            return tree->n < GR_TREE_MAX;
        still_before = still ? tree->n : GR_TREE_MAX + 1;
        if (clock_now_s() > until_s)
            return false;
        if (!still)
            rest_a_little(round);
    }
}

void gr_tree_thaw(const struct gr_tree *tree)
{
    for (size_t i = tree->n; i-- > 0;)
        kill(tree->pid[i], SIGCONT);
}

/* /proc/PID/stat, after the name in parentheses: utime, stime, cutime and cstime are the 12th to 15th. */
static unsigned long long ticks_of(pid_t pid)
{
    char path[64], line[1024];
    unsigned long long ticks[4] = {0};
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "re");
    const char *name_end = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (name_end)
        sscanf(name_end + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu",
               &ticks[0], &ticks[1], &ticks[2], &ticks[3]);
    if (f)
        fclose(f);
    return ticks[0] + ticks[1] + ticks[2] + ticks[3];
}

double gr_tree_cpu_s(const struct gr_tree *tree)
{
    unsigned long long ticks = 0;
    for (size_t i = 0; i < tree->n; i++)
        ticks += ticks_of(tree->pid[i]);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
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
