#include "grader/report/text_out.h"

#include "base/files.h"

#include <limits.h>
#include <stdlib.h>

bool text_out_open(struct text_out *t)
{
    *t = (struct text_out){0};
    t->out = open_memstream(&t->text, &t->bytes);
    return t->out;
}

char *text_out_close(struct text_out *t)
{
    FILE *out = t->out;
    t->out = NULL;
    if (out && fclose(out))
        text_out_free(t);
    return t->text;
}

void text_out_free(struct text_out *t)
{
    if (t->out)
        fclose(t->out);
    free(t->text);
    *t = (struct text_out){0};
}

enum st_code text_out_write(struct text_out *t, const char *folder, const char *name,
                            struct st_error *err)
{
    char path[PATH_MAX];
    if (!text_out_close(t))
        return st_fail(err, ST_NO_MEMORY, "out of memory for %s", name);
    const enum st_code code = path_make(path, sizeof path, err, "%s/%s", folder, name);
    return code ? code : file_write(path, t->text, t->bytes, err);
}
