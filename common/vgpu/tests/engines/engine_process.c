/* Runs each case in a separate process and compares the outcomes. */
#include "vgpu/tests/engines/engine_process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESS_SECONDS_MOST = 300 };

/* ---- outcomes through a pipe ---------------------------------------------------------------- */

static void write_outcome(FILE *to, const struct outcome *o)
{
    fwrite(o, sizeof *o, 1, to);
    fwrite(o->text, 1, o->text_bytes, to);
    if (o->memory)
        fwrite(o->memory, 1, o->memory_bytes, to);
    if (o->executed)
        fwrite(o->executed, 1, IR_OPS, to);
}

static void *read_part(FILE *from, size_t bytes)
{
    char *part = calloc(1, bytes + 1);
    if (!part)
        abort();
    if (fread(part, 1, bytes, from) == bytes)
        return part;
    free(part);
    return NULL;
}

static bool read_outcome(FILE *from, struct outcome *o)
{
    if (fread(o, sizeof *o, 1, from) != 1)
        return false;
    o->text = read_part(from, o->text_bytes);
    o->memory = o->memory ? read_part(from, o->memory_bytes) : NULL;
    o->executed = o->executed ? read_part(from, IR_OPS) : NULL;
    return o->text != NULL;
}

struct outcome variant_run(const struct variant *v, const struct engine_case *c)
{
    struct outcome o = {0};
    int ends[2], status = 0;
    if (v->engine != VG_ENGINE_INTERPRETER)
        variant_translator(); /* loads it once, for all later processes */
    fflush(stdout);
    if (pipe(ends))
        abort();
    const pid_t child = fork();
    if (child < 0)
        abort();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        alarm(PROCESS_SECONDS_MOST);
        o = variant_run_here(v, c);
        FILE *to = fdopen(ends[1], "w");
        write_outcome(to, &o);
        _exit(fclose(to) != 0);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    const bool read = read_outcome(from, &o);
    fclose(from);
    waitpid(child, &status, 0);
    if (read && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return o;
    o = (struct outcome){.is_dead = true};
    if (asprintf(&o.text, "the process ended with %s %d\n",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) < 0)
        abort();
    o.text_bytes = strlen(o.text);
    return o;
}

void outcome_free(struct outcome *o)
{
    free(o->text);
    free(o->memory);
    free(o->executed);
    *o = (struct outcome){0};
}

/* ---- comparing -------------------------------------------------------------------------------- */

static int line_bytes(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (int)((stop ? stop : end) - at);
}

char *outcome_difference(const struct outcome *a, const struct outcome *b)
{
    size_t i = 0, line = 0;
    char *text = NULL;
    while (i < a->text_bytes && i < b->text_bytes && a->text[i] == b->text[i])
        line = a->text[i++] == '\n' ? i : line;
    if (i < a->text_bytes || i < b->text_bytes) {
        if (asprintf(&text, "A says: %.*s\nB says: %.*s\n",
                     line_bytes(a->text + line, a->text + a->text_bytes), a->text + line,
                     line_bytes(b->text + line, b->text + b->text_bytes), b->text + line) < 0)
            abort();
        return text;
    }
    for (i = 0; i < a->memory_bytes && i < b->memory_bytes; i++)
        if (a->memory[i] != b->memory[i])
            break;
    if (i == a->memory_bytes && i == b->memory_bytes)
        return NULL;
    size_t from = i & ~(size_t)7;
    uint64_t x = 0, y = 0;
    memcpy(&x, a->memory + from, from + 8 <= a->memory_bytes ? 8 : 0);
    memcpy(&y, b->memory + from, from + 8 <= b->memory_bytes ? 8 : 0);
    if (asprintf(&text, "memory at byte %zu (of all buffers): A %016llx, B %016llx\n", from,
                 (unsigned long long)x, (unsigned long long)y) < 0)
        abort();
    return text;
}
