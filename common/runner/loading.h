/** @file
 * Prevents a lab from loading other libraries to do its work.
 */
#ifndef CONVLAB_RUNNER_LOADING_H
#define CONVLAB_RUNNER_LOADING_H

#include <dlfcn.h>

/** From now on, dlopen() and dlmopen() call @p report, which does not return, if they are called by
 * the library at @p path (its path in the loader's table). @p path must stay valid. */
void loading_refuse(const char *path, void (*report)(const char *function, const void *caller));

/** The runner's dlopen and dlmopen: they call the C library's for all callers except the lab. */
void *loading_dlopen(const char *file, int mode);
void *loading_dlmopen(Lmid_t space, const char *file, int mode);

#endif
