// Defines a function of cuBLAS that is not implemented; it ignores its parameters.
#pragma once

#include <cstdio>

#define STUB(name)                                                                                 \
    extern "C" __attribute__((visibility("default"))) int name()                                   \
    {                                                                                              \
        static bool said;                                                                          \
        if (!said)                                                                                 \
            fprintf(stderr, "virtual GPU: %s is not supported by the virtual GPU\n", #name);       \
        said = true;                                                                               \
        return 15; /* CUBLAS_STATUS_NOT_SUPPORTED */                                               \
    }
