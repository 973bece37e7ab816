/** @file
 * CUPTI's functions, found at run time: the machine that builds the library needs CUPTI's headers,
 * not CUPTI, and one built library serves every version.
 *
 * Of the records only fields are read that have had the same place since CUDA 10: newer versions
 * put theirs behind.
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
    /** Newer ones have these; else NULL. */
    CUptiResult(CUPTIAPI *cuptiFinalize)(void);
    CUptiResult(CUPTIAPI *cuptiActivityEnableDriverApi)(CUpti_CallbackId id, uint8_t enable);
};

/** Loads CUPTI. @param path  of the library, or its name for the loader to find
 * @param why  gets what is missing @return whether it has all functions. */
bool cupti_api_load(struct cupti_api *api, const char *path, char *why, size_t room);
