/** @file
 * Clues to a wrong shape that no finding explains: mistakes in the host code, seen in a
 * submission's calls. (source_clues.h has clues from its text.) Each clue is a fact about the code,
 * not a guess.
 */
#pragma once

#include "conv.h"
#include "grader/session/device_record.h"
#include "grader/session/session.h"

#include <stdbool.h>
#include <stddef.h>

/** Finds out whether all copies in one direction, or all fills, together have as many bytes as a
 * tensor has elements.
 * @param to  set to "48 bytes are copied on the device: k has 48 elements, which are 192 bytes"
 * @return false, with @p to empty, if there is none */
bool gr_clue_bytes(const struct gr_device_record *record, const struct conv_shape *shape, char *to,
                   size_t room);

/** Finds a block whose index along one axis is the image or map after the last one, on an axis
 * whose number of blocks is that of the other kind.
 * @param finding  its message: "... block 0,2,0, ... directly past the end of the ... as large as x"
 * @param to  set to "blockIdx.y is 2 there, of a grid of (2,3,1) blocks: ..." */
bool gr_clue_axes(const struct gr_device_record *record, const struct conv_shape *shape,
                  const char *finding, char *to, size_t room);

/** Finds out whether the grid of a kernel has as many blocks along x as the rows of a map need, and
 * as many along y as its columns need.
 * @param to  set to "the grid has 1 x 2 blocks of 16 x 16 threads (x, y): ..."
 * @return false, with @p to empty, if no kernel has such a grid */
bool gr_clue_swapped(const struct gr_device_record *record, const struct conv_shape *shape,
                     char *to, size_t room);

/** Finds out whether the outputs from some row, column, map, tile or place in each map on were never
 * written, because the grid of a kernel has too few blocks along an axis for what a block stores.
 * @param y       the outputs
 * @param source  the path of the submission's source, or NULL
 * @param to  set to "the grid of conv at conv.cu:54 has 1 block along y, and a block stores 24 rows: ..."
 * @return false, with @p to empty, if there is no such kernel; true, with @p to empty, if there is one,
 * but several of its axes may be the short one */
bool gr_clue_short(const struct gr_device_record *record, const struct conv_shape *shape,
                   const float *y, const char *source, char *to, size_t room);

/** Finds threads of a kernel that ended before a barrier that others of their block reached.
 * @param to  set to "in kernel conv, 31 of the block's 256 threads returned at line 21 and ..." */
bool gr_clue_left(const struct gr_device_record *record, char *to, size_t room);

/** Adds the first clue, of the calls or of the text, with a hint, to the message of a run that ended
 * with an access out of bounds or a crash.
 * @param source  the path of the submission's source, or NULL */
void gr_clue_add(const struct gr_device_record *record, const struct conv_shape *shape,
                 const char *source, struct gr_run *run);
