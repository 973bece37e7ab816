/** @file
 * CUPTI's functions, looked up at run time: to build our library, only CUPTI's headers are needed,
 * and the built library works with every version of CUPTI.
 *
 * Our library reads only those fields of records whose offsets have not changed since CUDA 10;
 * newer versions append fields.
 */
#pragma once

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>

/** X(function) */
#define CUPTI_API_MAP(X)                                                                           \
    X(cuptiActivityDisable)                                                                        \
    X(cuptiActivityEnable)                                                                         \
    X(cuptiActivityFlushAll)                                                                       \
    X(cuptiActivityGetNextRecord)                                                                  \
    X(cuptiActivityGetNumDroppedRecords)                                                           \
    X(cuptiActivityRegisterCallbacks)                                                              \
    X(cuptiEnableCallback)                                                                         \
    X(cuptiGetCallbackName)                                                                        \
    X(cuptiGetResultString)                                                                        \
    X(cuptiGetTimestamp)                                                                           \
    X(cuptiSubscribe)

struct cupti_api {
#define CUPTI_POINTER(name) __typeof__(name) *name;
    CUPTI_API_MAP(CUPTI_POINTER)
#undef CUPTI_POINTER
    /** Only newer versions have the functions below; NULL in older ones. */
    CUptiResult(CUPTIAPI *cuptiFinalize)(void);
    CUptiResult(CUPTIAPI *cuptiActivityEnableDriverApi)(CUpti_CallbackId id, uint8_t enable);
};

/** Loads CUPTI. @param path  the library's path, or a name that the loader looks up
 * @param why  set to what is missing @return whether the library has all functions. */
bool cupti_api_load(struct cupti_api *api, const char *path, char *why, size_t room);
