/** @file
 * What the control groups of this process allow: containers and clusters limit memory and processor
 * time there. Both versions of cgroups are read, from the own group up to the root; a container sees
 * its own group as the root.
 *
 * @p cgroups is /proc/self/cgroup, @p folder /sys/fs/cgroup: CGROUPS stands for both.
 */
#pragma once

#include <stddef.h>

#define CGROUPS "/proc/self/cgroup", "/sys/fs/cgroup"

/** @return how much more memory may be used, without giving up what is cached; SIZE_MAX: any. */
size_t cgroup_memory_left_bytes(const char *cgroups, const char *folder);

/** @return how many cores' time may be used, INFINITY: any. */
double cgroup_cores(const char *cgroups, const char *folder);

/** @return how often the kernel ended a process of the own group because its memory was used up. */
size_t cgroup_memory_kills(const char *cgroups, const char *folder);
