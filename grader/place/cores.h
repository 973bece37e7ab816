/** @file
 * Sets of processor cores: as text, and split into a set for measuring times and a set for
 * everything else.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/** Cores on which times are measured, and cores for everything else. */
struct gr_cores {
    cpu_set_t timing, others;
};

/** Writes a set as the kernel does: "0-3,8". @return @p to. */
char *gr_cores_text(const cpu_set_t *set, char *to, size_t room);

/** Reads a set in this form. @return false if the text is invalid or empty. */
bool gr_cores_parse(const char *text, cpu_set_t *set);

/** Splits a set. The logical cores of one physical core stay together, because work on one slows
 * the other down.
 * @param siblings  folder like /sys/devices/system/cpu, which lists them
 * @param wanted  at least this many cores of @p all measure times; 0: half of @p all
 * @return false if no core, or with @p wanted 0 fewer than two, would be left for everything
 * else */
bool gr_cores_split(const cpu_set_t *all, const char *siblings, size_t wanted,
                    struct gr_cores *cores);
