/** @file
 * Replaces shared memory without a file in the sandbox.
 *
 * With mmap(MAP_SHARED | MAP_ANONYMOUS), a program shares memory with processes that it starts. No
 * figure of a process shows all of this memory, so the sandbox's filter refuses it with a signal,
 * and the program gets a file without a name in /dev/shm instead, which has a limited size.
 */
#ifndef CONVLAB_RUNNER_SHARED_MEMORY_H
#define CONVLAB_RUNNER_SHARED_MEMORY_H

#include <signal.h>
#include <stdbool.h>

/** For a handler of SIGSYS. @param context  its third argument
 * @return true: the call was this mmap(), and now has a result, memory or an error */
bool shared_memory_give(const siginfo_t *info, void *context);

#endif
