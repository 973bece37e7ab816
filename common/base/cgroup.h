/** @file
 * The limits of this process's control groups, with which containers and clusters limit memory and
 * processor time. Both versions of cgroups are read, from the process's group up to the root; a
 * container sees its own group as the root.
 *
 * @p cgroups is /proc/self/cgroup, @p folder /sys/fs/cgroup: CGROUPS stands for both.
 */
#pragma once

#include <stddef.h>

#define CGROUPS "/proc/self/cgroup", "/sys/fs/cgroup"

/** @return the memory that may still be used, including caches of files that can be evicted;
 * SIZE_MAX: no limit. */
size_t cgroup_memory_left_bytes(const char *cgroups, const char *folder);

/** @return the processor time that may be used, in cores; INFINITY: no limit. */
double cgroup_cores(const char *cgroups, const char *folder);

/** @return how often Linux ended a process of this group for lack of memory. */
size_t cgroup_memory_kills(const char *cgroups, const char *folder);
