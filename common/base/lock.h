/** @file
 * A lock between processes. It is released when its holder ends, however it ends.
 */
#pragma once

#include "base/status.h"

/** Exclusive, or shared by any number of holders. */
enum lock_kind { LOCK_ALONE, LOCK_SHARED };

/** Waits for the lock of a file and takes it; creates the file if necessary. @param fd  set to a
 * descriptor for lock_release() */
enum st_code lock_take(const char *path, enum lock_kind kind, int *fd, struct st_error *err);

/** Releases the lock; harmless on -1. */
void lock_release(int fd);
