/** @file
 * The recording of one block, for a page that replays it: the lines and lanes that each warp
 * executes, and the accesses of these lanes. The executor (exec/block_recording.h) calls the
 * recorder before each instruction.
 *
 *     step      a run of instructions of one warp on one source line with the same lanes, with a
 *               limited number of accesses: without -lineinfo all code is one line
 *     place     (line, lanes); steps hold its number
 *     pattern   (kind, bytes per lane, addresses relative to the first lane's); accesses hold its number
 *
 * As JSON, one line:
 *
 *     "places": [[file, line, lanes], ...]
 *     "patterns": ["l4g0,4,8,...", ...]     kind, bytes, space, an offset for each lane ("": none)
 *     "steps": [[warp, place, instructions, pattern, address, ...], ...]
 *     "values": ["hex of 8 digits a word, lane by lane", ...]   of the stores to shared memory, in order
 *
 * An address is the first lane's; in global memory it is the number of the allocation * 2^38 +
 * offset. The executor adds the allocations,
 *
 *     "memory": [[name, bytes, argument, number, copied], ...]
 *
 * with the kernel's argument that points to the allocation (from 1; 0: none) and the number of its
 * cudaMalloc(). For a variable into which an allocation was copied, these are this allocation's
 * number and the bytes copied.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PICTURE_LANES = 32,
    PICTURE_BYTES = 640 << 10,
    PICTURE_ALLOCATION_BITS = 38,
    PICTURE_STEP_ACCESSES = 16
};

/** The space and the kind of an access. */
enum picture_space {
    PICTURE_GLOBAL = 'g',
    PICTURE_SHARED = 's',
    PICTURE_LOCAL = 'l',
    PICTURE_CONSTANT = 'c'
};
enum picture_kind {
    PICTURE_LOAD = 'l',
    PICTURE_STORE = 's',
    PICTURE_ATOMIC = 'a',
    PICTURE_BARRIER = 'b'
};

struct picture_access {
    enum picture_kind kind;
    enum picture_space space;
    uint32_t mask, bytes; /**< mask of lanes; bytes per lane */
    uint64_t address[PICTURE_LANES];
};

struct picture;

/** Starts a recording. @return the recording, to be freed with picture_free(); NULL: out of
 * memory. */
struct picture *picture_new(void);
void picture_free(struct picture *p);

/** Records an instruction of a warp, with the lanes that execute it.
 * @param file  index of the file
 * @param line  0: not known */
void picture_instruction(struct picture *p, uint32_t warp, int file, int line, uint32_t lanes);
/** Records the accesses of the last instruction. Barriers have neither lanes nor addresses. */
void picture_access(struct picture *p, const struct picture_access *access);
/** Records the words that the last access, a store to shared memory, has written, lane by lane. */
void picture_values(struct picture *p, const uint32_t *words, size_t n);

/** @return whether the recording is full, so that only instructions are counted. */
bool picture_is_full(const struct picture *p);

/** Writes the members of the recording's JSON object, without braces. */
void picture_write(FILE *out, const struct picture *p);
