#include "grader/source_place.h"

#include "grader/subprocess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gr_source_place(const char *library, uint64_t offset, char *to, size_t room)
{
    char at[32];
    snprintf(at, sizeof at, "0x%llx", (unsigned long long)offset);
    snprintf(to, room, "offset %s of the library", at);
    const char *argv[] = {"addr2line", "-f", "-e", library, at, NULL};
    struct gr_subprocess_result result;
    struct st_error err;
    if (gr_subprocess(argv, NULL, 4096, &result, &err))
        return;
    char *newline = strchr(result.output, '\n');
    if (result.exit_status == 0 && newline) {
        *newline = '\0';
        char *function = result.output, *file = newline + 1;
        file[strcspn(file, "\n")] = '\0';
        /* OpenMP bodies are functions of their own, "conv_forward._omp_fn.0". */
        function[strcspn(function, ".")] = '\0';
        file[strcspn(file, " ")] = '\0';
        char *slash = strrchr(file, '/');
        if (file[0] != '?')
            snprintf(to, room, "%.80s in %.60s()", slash ? slash + 1 : file, function);
    }
    free(result.output);
}
