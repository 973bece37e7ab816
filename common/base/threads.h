/** @file
 * The threads of a process and their processor times, as Linux shows them in /proc.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/** Calls a function for each thread of a process, with the thread's number as text, until it returns
 * false.
 * @param context  passed on
 * @return whether all calls returned true. */
bool threads_each(pid_t pid, bool (*call)(pid_t pid, const char *thread, void *context),
                  void *context);

/** State of a thread, or of a whole process. */
struct thread_stat {
    char name[16];
    char state;        /**< 'R', 'S', 'D', 'T', ... as in proc(5) */
    double cpu_s;      /**< in user mode and in the kernel */
    double children_s; /**< of children that the process has waited for */
};

/** Reads the state of a thread.
 * @param thread  its number; NULL: the whole process, with the name and state of its first thread
 * @return false, with zeros, if it has ended. */
bool thread_stat_read(pid_t pid, const char *thread, struct thread_stat *to);
