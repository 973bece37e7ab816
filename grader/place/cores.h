/** @file
 * Sets of processor cores: as text, and split into one set for times and one for everything else.
 */
#pragma once

#include "base/status.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/** Cores on which times are measured, and cores for everything else. */
struct gr_cores {
    cpu_set_t timing, others;
};

/** Writes a set as the kernel does: "0-3,8". @return @p to. */
char *gr_cores_text(const cpu_set_t *set, char *to, size_t room);

/** Reads such a text. @return false if it is invalid or empty. */
bool gr_cores_parse(const char *text, cpu_set_t *set);

/** Splits a set. Threads of one physical core stay together: work on one slows the other down.
 * @param siblings  folder like /sys/devices/system/cpu, which lists them
 * @param wanted  at least this many of @p all measure times; 0: half of them
 * @return false if no core, or with @p wanted 0 fewer than two, would be left for the others */
bool gr_cores_split(const cpu_set_t *all, const char *siblings, size_t wanted,
                    struct gr_cores *cores);
