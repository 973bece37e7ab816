/* The files of a submission that are kept: GRADEBOOK.files/NAME/MILESTONE/source/FILE. */
#include "grader/class/class.h"

#include "base/files.h"

#include <string.h>

enum st_code cl_file_keep(struct cl_class *class, struct cl_submission *s, size_t which,
                          const char *path, const char *contents, size_t bytes,
                          struct st_error *err)
{
    struct cl_file *file = &s->file[which];
    const struct cl_wanted *wanted = &class->options->milestone[which];
    char text[CL_NAME_BYTES], safe[256], source[PATH_MAX];
    cl_name_text(text, path);
    file->there = true;
    file->path = strdup(text);
    file->bytes = (int64_t)bytes;
    sha256_hex(contents, bytes, file->hash);
    if (!path_format(source, sizeof source, "%s/%s/%s/source", class->files,
                     cl_name_folder(safe, s->name), wanted->id))
        return st_fail(err, ST_TOO_LARGE, "path is too long: %.80s...", class->files);
    enum st_code code = dir_make(source, err);
    size_t used = strlen(source);
    snprintf(source + used, sizeof source - used, "/%s", wanted->file);
    file->copy = strdup(source);
    return code ? code : file_write(source, contents, bytes, err);
}
