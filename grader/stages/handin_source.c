/* --source with a folder or an archive: finds the graded file as `grader class` does, so that a
 * platform's autograder and a class accept the same submissions. */
#include "grader/stages/grading.h"

#include "base/files.h"
#include "base/printable.h"
#include "grader/handin/handin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Copies the file into a separate folder. */
static enum st_code keep(struct grading *g, const struct hi_file *file, const char *name,
                         struct st_error *err)
{
    const char *parent = getenv("TMPDIR");
    char folder[PATH_MAX], shown[4 * HI_PATH_BYTES + 1];
    path_format(folder, sizeof folder, "%s/convlab-handin-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder) || !path_format(g->handed_in, sizeof g->handed_in, "%s/%s", folder, name))
        return st_fail(err, ST_IO, "cannot keep the file found in %s", g->options->file);
    text_printable(shown, sizeof shown, file->path);
    snprintf(g->result->source, sizeof g->result->source, "%s", shown);
    snprintf(g->host.source, sizeof g->host.source, "%s", name);
    return file_write(g->handed_in, file->contents, file->bytes, err);
}

static enum st_code choose(struct grading *g, const struct hi_taken *taken,
                           const struct hi_wanted *wanted, struct st_error *err)
{
    const struct hi_file *file = &taken->source[0];
    char *why = g->nothing_handed_in, shown[4 * HI_PATH_BYTES + 1];
    text_printable(shown, sizeof shown, file->path);
    if (taken->unreadable || file->unreadable) {
        st_fail(err, ST_IO, "the submission cannot be read");
        st_detail(err, ST_WHERE, "%s", g->options->file);
        return st_detail(err, ST_GOT, "%.200s",
                         taken->rejected[0] ? taken->rejected : file->refused);
    }
    if (taken->rejected[0])
        snprintf(why, sizeof g->nothing_handed_in, "%s", taken->rejected);
    else if (!hi_is_chosen(file, g->options->accept_near))
        hi_describe_missing(file, wanted, why, sizeof g->nothing_handed_in);
    else if (file->refused[0])
        snprintf(why, sizeof g->nothing_handed_in, "%.200s %s", shown, file->refused);
    else
        return keep(g, file, wanted->file, err);
    return ST_OK;
}

enum st_code gr_handin_open(struct grading *g, struct st_error *err)
{
    const char *path = g->options->file;
    struct hi_wanted wanted;
    struct stat info;
    if (!path || lstat(path, &info) ||
        !(S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && hi_archive_stem(path))))
        return ST_OK;
    struct hi_taken *taken = calloc(1, sizeof *taken);
    if (!taken)
        return st_fail(err, ST_NO_MEMORY, "cannot search the submission");
    snprintf(wanted.id, sizeof wanted.id, "%s", g->milestone.id);
    snprintf(wanted.folder, sizeof wanted.folder, "%s", g->milestone.folder);
    snprintf(wanted.file, sizeof wanted.file, "%s", g->milestone.file);
    const struct hi_part part = {path, ""};
    const struct hi_handin handin = {&wanted, 1, &g->host.sandbox, &part, 1};
    enum st_code code = hi_take(taken, &handin, err);
    if (!code)
        code = choose(g, taken, &wanted, err);
    hi_taken_free(taken);
    free(taken);
    return code;
}

void gr_handin_close(struct grading *g)
{
    char *name = strrchr(g->handed_in, '/');
    if (!name)
        return;
    *name = '\0';
    tree_remove(g->handed_in);
    g->handed_in[0] = '\0';
}
