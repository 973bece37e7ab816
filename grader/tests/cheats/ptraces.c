/* Attaches to its parent as a debugger would. */
#include <sys/ptrace.h>
#include <unistd.h>
#define BEGIN                                                                                      \
    float sum = 0;                                                                                 \
    ptrace(PTRACE_ATTACH, getppid(), 0, 0);
#include "plain.h"
