/** @file
 * Shared memory without a file, in the sandbox.
 *
 * mmap(MAP_SHARED | MAP_ANONYMOUS) is how a program has memory in common with processes that it
 * starts. No number of a process shows all of such memory, so the sandbox's filter refuses it by a
 * signal, and what comes instead is a file without a name in /dev/shm, which has a limited size.
 */
#ifndef CONVLAB_RUNNER_SHARED_MEMORY_H
#define CONVLAB_RUNNER_SHARED_MEMORY_H

#include <signal.h>
#include <stdbool.h>

/** For a handler of SIGSYS. @param context  its third argument
 * @return true: the call was such an mmap(), and has a result, memory or an error */
bool shared_memory_give(const siginfo_t *info, void *context);

#endif
