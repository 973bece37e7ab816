#include "grader/session/source_place.h"

#include "grader/sandbox/confined.h"
#include "base/printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two lines of addr2line's, the function and FILE:LINE, as one. */
static void make_place(char *said, char *to, size_t room)
{
    char shown[2][128];
    char *newline = strchr(said, '\n');
    if (!newline)
        return;
    *newline = '\0';
    char *function = said, *file = newline + 1;
    file[strcspn(file, "\n")] = '\0';
    /* OpenMP bodies are functions of their own, "conv_forward._omp_fn.0". */
    function[strcspn(function, ".")] = '\0';
    file[strcspn(file, " ")] = '\0';
    const char *slash = strrchr(file, '/');
    if (file[0] != '?')
        snprintf(to, room, "%.80s in %.60s()",
                 text_printable(shown[0], sizeof shown[0], slash ? slash + 1 : file),
                 text_printable(shown[1], sizeof shown[1], function));
}

void gr_source_place(const struct gr_sandbox *sandbox, const char *library, uint64_t offset,
                     char *to, size_t room)
{
    static const struct gr_limits limits = {.wall_s = 20,
                                            .cpu_s = 10,
                                            .address_bytes = (size_t)1 << 30,
                                            .file_bytes = 1,
                                            .processes = 8};
    char at[32];
    snprintf(at, sizeof at, "0x%llx", (unsigned long long)offset);
    snprintf(to, room, "offset %s of the library", at);
    const char *const argv[] = {"addr2line", "-f", "-e", library, at, NULL};
    const struct gr_confined_options options = {
        .argv = argv, .shown = library, .limits = limits, .keep_bytes = 4096};
    struct gr_confined_result result;
    struct st_error ignored;
    if (gr_confined_run(sandbox, &options, &result, &ignored) == ST_OK && result.exit_status == 0)
        make_place(result.output, to, room);
    free(result.output);
}
