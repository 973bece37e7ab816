/** @file
 * A lab does the work itself: it must not load other libraries.
 */
#ifndef CONVLAB_RUNNER_LOADING_H
#define CONVLAB_RUNNER_LOADING_H

#include <dlfcn.h>

/** From now on, dlopen() and dlmopen() called by that library end with @p report, which does not
 * return. @param path  as the loader names it; kept by the caller */
void loading_refuse(const char *path, void (*report)(const char *function, const void *caller));

/** The runner's dlopen and dlmopen: the C library's for all callers but the lab. */
void *loading_dlopen(const char *file, int mode);
void *loading_dlmopen(Lmid_t space, const char *file, int mode);

#endif
