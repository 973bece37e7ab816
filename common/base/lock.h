/** @file
 * A lock between processes, which ends with its holder, however the holder ends.
 */
#pragma once

#include "base/status.h"

/** Held by one alone, or by any number that share it. */
enum lock_kind { LOCK_ALONE, LOCK_SHARED };

/** Takes the lock of a file, which it creates if necessary; waits for it.
 * @param fd  set to what lock_release() takes */
enum st_code lock_take(const char *path, enum lock_kind kind, int *fd, struct st_error *err);

/** Gives it back; harmless on -1. */
void lock_release(int fd);
