/* The kept files of a submission: GRADEBOOK.files/NAME/MILESTONE/source/FILE and
 * .../report/report.pdf. The grader chooses these names, whatever the student called the files. */
#include "grader/class/class.h"

#include "base/files.h"

#include <string.h>
#include <strings.h>

/* @param to  set to the path of the file that is written */
static enum st_code keep(const struct cl_class *class, const char *name, const char *milestone,
                         const char *folder, const char *file, const char *contents, size_t bytes,
                         char to[PATH_MAX], struct st_error *err)
{
    char safe[256], parent[PATH_MAX];
    if (path_make(parent, sizeof parent, err, "%s/%s/%s/%s", class->files,
                  cl_name_folder(safe, name), milestone, folder) ||
        path_make(to, PATH_MAX, err, "%s/%s", parent, file))
        return err->code;
    enum st_code code = dir_make(parent, err);
    return code ? code : file_write(to, contents, bytes, err);
}

enum st_code cl_file_keep(struct cl_class *class, struct cl_submission *s, size_t which,
                          const char *contents, size_t bytes, struct st_error *err)
{
    struct cl_file *file = &s->file[which];
    const struct hi_wanted *wanted = &class->options->milestone[which];
    char source[PATH_MAX];
    file->bytes = (int64_t)bytes;
    sha256_hex(contents, bytes, file->hash);
    enum st_code code =
        keep(class, s->name, wanted->id, "source", wanted->file, contents, bytes, source, err);
    file->copy = strdup(source);
    return code;
}

enum st_code cl_report_keep(struct cl_class *class, struct cl_submission *s, size_t which,
                            const struct hi_file *report, struct st_error *err)
{
    struct cl_file *file = &s->file[which];
    const size_t length = strlen(report->path);
    const bool pdf = length > 4 && strcasecmp(report->path + length - 4, ".pdf") == 0;
    char path[PATH_MAX], name[CL_NAME_BYTES];
    cl_name_text(name, report->path);
    file->report_name = strdup(name);
    file->report_bytes = (int64_t)report->bytes;
    enum st_code code =
        keep(class, s->name, class->options->milestone[which].id, "report",
             pdf ? "report.pdf" : "report.md", report->contents, report->bytes, path, err);
    const char *files = strrchr(class->files, '/'); /* GRADEBOOK.files is beside the gradebook */
    file->report = strdup(path + (files + 1 - class->files));
    return code;
}
