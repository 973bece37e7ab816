/** @file
 * Findings that a user suppresses, from a file with one rule per line:
 *
 *     KIND KERNEL [FILE[:LINE]]      # a comment
 *
 * with `*` and `?` as in file names. FILE is the path, or its last part, of either source location
 * of a finding.
 */
#pragma once

#include "base/status.h"
#include "vgpu/api/vgpu.h"

struct suppressions;

/** Reads a file. @return ST_OK, or an error with the line. */
enum st_code suppressions_read(struct suppressions **list, const char *path, struct st_error *err);
/** @return whether a finding is not reported: a rule covers it, or it is in the shared memory of a
 * kernel of CUB. @param list  NULL: no rules */
bool suppressions_cover(const struct suppressions *list, const struct vg_fault *fault);
void suppressions_free(struct suppressions *list);
