/* Chooses the files to keep, and writes the reasons for not keeping the others. */
#include "grader/handin/handin_parts.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void hi_file_empty(struct hi_file *file)
{
    free(file->contents);
    *file = (struct hi_file){0};
}

struct hi_file *hi_offer(struct hi_reading *r, const char *path, size_t *limit)
{
    const struct hi_handin *h = r->handin;
    size_t which = 0;
    struct hi_file *file = NULL;
    int match = (int)hi_match_path(h->wanted, h->milestones, path, &which);
    *limit = HI_MAX_SOURCE_BYTES;
    if (match)
        file = &r->taken->source[which];
    else if ((match = hi_match_report(h->wanted, h->milestones, path, &which))) {
        file = &r->taken->report[which];
        *limit = HI_MAX_REPORT_BYTES;
    }
    if (!file || match < file->match || strlen(path) >= sizeof file->path)
        return NULL;
    const bool twice = match == file->match;
    if (twice && strcmp(path, file->path) > 0) { /* in any order, name the same file */
        file->twice = true;
        return NULL;
    }
    hi_file_empty(file);
    file->match = match;
    file->twice = twice;
    snprintf(file->path, sizeof file->path, "%s", path);
    return file;
}

void hi_refuse(struct hi_file *file, const char *text, ...)
{
    va_list args;
    va_start(args, text);
    vsnprintf(file->refused, sizeof file->refused, text, args);
    va_end(args);
}

bool hi_is_chosen(const struct hi_file *file, bool lenient)
{
    return file->match >= HI_LONE_FILE || (lenient && file->match && !file->twice);
}

void hi_describe_missing(const struct hi_file *file, const struct hi_wanted *wanted, char *to,
                         size_t room)
{
    char shown[4 * HI_PATH_BYTES + 1];
    const size_t used = (size_t)snprintf(to, room, "no file %s/%s", wanted->folder, wanted->file);
    if (file->match && used < room) {
        text_printable(shown, sizeof shown, file->path);
        snprintf(to + used, room - used, " (found: %.200s%s)", shown,
                 file->twice ? " and others; hint: ask which one counts"
                             : "; hint: --accept-near grades it");
    }
}

void hi_taken_free(struct hi_taken *taken)
{
    for (size_t i = 0; i < HI_MAX_MILESTONES; i++) {
        hi_file_empty(&taken->source[i]);
        hi_file_empty(&taken->report[i]);
    }
}
