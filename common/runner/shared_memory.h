/** @file
 * Replaces shared memory without a file in the sandbox.
 *
 * With mmap(MAP_SHARED | MAP_ANONYMOUS), a program shares memory with processes that it starts.
 * Linux reports no figure of a process that includes all of this memory, so the sandbox's filter
 * turns the call into a signal, and the program gets an unnamed file in /dev/shm of limited size
 * instead.
 */
#ifndef CONVLAB_RUNNER_SHARED_MEMORY_H
#define CONVLAB_RUNNER_SHARED_MEMORY_H

#include <signal.h>
#include <stdbool.h>

/** Called by a handler of SIGSYS. @param context  the handler's third argument @return true: the
 * call was such an mmap(), and now has a result (memory or an error) */
bool shared_memory_give(const siginfo_t *info, void *context);

#endif
