/* Lets oneDNN do the work. */
#include <dlfcn.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    if (!dlopen("libdnnl.so.2", RTLD_NOW))                                                         \
        return 0;
#include "plain.h"
