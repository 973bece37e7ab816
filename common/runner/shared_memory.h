/** @file
 * Limits the shared memory that a sandboxed program gets without a file.
 *
 * With mmap(MAP_SHARED | MAP_ANONYMOUS), a program shares memory with processes that it starts.
 * Linux has no counter of a process that includes all of this memory. So the sandbox's filter turns
 * the call into a signal, and the program gets memory of limited size in an unnamed file in /dev/shm
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
