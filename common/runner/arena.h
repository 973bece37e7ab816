/** @file
 * The shared memory that carries tensors between grader and runner.
 *
 *     | guard | y | guard | x | guard | k | guard |
 *
 * Guard zones are at least ARENA_GUARD_BYTES of a known pattern directly before and after every
 * tensor: the grader finds a submission's writes there after the run, and reads there give NaN.
 */
#ifndef CONVLAB_RUNNER_ARENA_H
#define CONVLAB_RUNNER_ARENA_H

#include "base/status.h"
#include "conv.h"

#include <stdbool.h>
#include <stddef.h>

enum { ARENA_GUARD_BYTES = 65536, ARENA_GUARDS = 4 };

/** The layout of one convolution, in bytes from the arena's start. */
struct arena_layout {
    size_t y, x, k;             /**< tensors, aligned to 256 */
    size_t guard[ARENA_GUARDS]; /**< offsets of zones of at least ARENA_GUARD_BYTES, adjacent to the
                                     tensors */
    size_t guard_bytes[ARENA_GUARDS];
    size_t bytes; /**< in total, a multiple of 4096 */
};

/** The layout for a shape. */
struct arena_layout arena_layout_for(const struct conv_shape *shape);

/** Shared memory of a sealed size, or a file on disk instead. */
struct arena {
    int fd;
    char *base;
    size_t bytes; /**< size reserved so far, and mapped in this process */
    bool on_disk;
};

/** Makes an empty arena. Close with arena_close(). */
enum st_code arena_open(struct arena *arena, struct st_error *err);

/** Makes an empty arena in an unnamed file, for tensors that do not fit into memory: the kernel
 * writes pages to the disk when memory is short. The folder is the first of TMPDIR, /var/tmp and
 * /tmp that is on a disk.
 * @return ST_OK, or ST_SYSTEM with a closed arena */
enum st_code arena_open_on_disk(struct arena *arena, struct st_error *err);

/** Makes sure that the arena has @p bytes; contents may be lost and base may move. */
enum st_code arena_reserve(struct arena *arena, size_t bytes, struct st_error *err);

/** @return the memory that the arena uses now, in bytes; 0 on disk */
size_t arena_memory_bytes(const struct arena *arena);

/** Restores the size of a file on disk, which cannot be sealed, and whose descriptor the lab has.
 * Call it while no process of the lab runs. @return false if the lab had truncated the file */
bool arena_restore(const struct arena *arena);

/** Unmaps and closes the arena; harmless on a closed one. */
void arena_close(struct arena *arena);

#endif
