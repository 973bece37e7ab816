#include "grader/export/export_formats.h"

#include <string.h>

const struct gx_format gx_formats[] = {
#define FORMAT(name, holds, suffix, refuses, summary)                                              \
    {#name, summary, suffix, refuses, holds, gx_##name##_write},
#define AUTOGRADER(function, name, summary)
#define GRADES(function, name, summary)
#include "grader/export/export_formats.def"
#undef FORMAT
#undef AUTOGRADER
#undef GRADES
    {0},
};

const struct gx_format *gx_format_named(const char *name)
{
    for (const struct gx_format *f = gx_formats; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static enum st_code refuse_fault(const struct gx_record *record, const char *platform,
                                 struct st_error *err)
{
    st_fail(err, ST_BAD_FORMAT, "not graded, so no score to export");
    st_detail(err, ST_WHERE, "%s%s%s", record->submission, *record->submission ? ", " : "",
              record->milestone);
    st_detail(err, ST_GOT, "%s", record->fault);
    return st_detail(err, ST_HINT,
                     "grade again; until then %s correctly shows that the autograder failed",
                     platform);
}

enum st_code gx_format_write(const struct gx_format *format, FILE *out,
                             const struct gx_class *class, const struct gx_options *options,
                             struct st_error *err)
{
    if (format->refuses && class->record->fault)
        return refuse_fault(class->record, format->refuses, err);
    return format->write(out, class, options, err);
}
