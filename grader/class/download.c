#include "grader/class/download.h"

#include <ctype.h>
#include <string.h>

const char *const cl_form_names[] = {"plain", "canvas", "moodle", "gradescope", NULL};

static void put(char *to, size_t room, const char *from, size_t length)
{
    snprintf(to, room, "%.*s", (int)length, from);
}

/* @return the end of the digits that begin here, if '_' follows them; otherwise NULL. */
static const char *number_end(const char *at)
{
    const char *end = at + strspn(at, "0123456789");
    return end > at && *end == '_' ? end : NULL;
}

/* Removes the suffix "-1", "-2", ..., which Canvas adds before the extension of a file that was
 * handed in again. */
static void drop_repeat(char *file)
{
    char *dot = strchr(file, '.'), *dash = dot;
    while (dash && dash > file && isdigit((unsigned char)dash[-1]))
        dash--;
    if (dash && dash > file + 1 && dash < dot && dash[-1] == '-')
        memmove(dash - 1, dot, strlen(dot) + 1);
}

/* Parses NAME[_LATE]_USER_FILE_conv.cu, or [LATE_]anon_CODE_FILE_conv.cu for anonymous students. If
 * a text or a web address was handed in instead of a file, the name has no FILE number. */
static bool parse_canvas(const char *entry, struct cl_download_entry *to)
{
    const char *name_end = NULL, *id = NULL, *at = NULL;
    const bool late_first = strncmp(entry, "LATE_anon_", 10) == 0;
    if (late_first || strncmp(entry, "anon_", 5) == 0) {
        id = entry + (late_first ? 10 : 5);
        at = strchr(id, '_');
        name_end = at;
        to->late = late_first;
    } else {
        for (const char *bar = strchr(entry, '_'); bar && !at; bar = strchr(bar + 1, '_')) {
            const bool late = strncmp(bar, "_LATE_", 6) == 0;
            id = bar + (late ? 6 : 1);
            at = bar > entry ? number_end(id) : NULL;
            name_end = bar;
            to->late = late;
        }
    }
    if (!at || at == id)
        return false;
    const char *file = number_end(at + 1) ? number_end(at + 1) + 1 : at + 1;
    if (!*file ||
        (file == at + 1 && strcmp(file, "text.html") != 0 && strcmp(file, "link.html") != 0))
        return false;
    put(to->person.id, sizeof to->person.id, id, (size_t)(at - id));
    if (name_end != at)
        put(to->person.name, sizeof to->person.name, entry, (size_t)(name_end - entry));
    snprintf(to->key, sizeof to->key, "%s_%s", to->person.name[0] ? to->person.name : "anon",
             to->person.id);
    put(to->file, sizeof to->file, file, strlen(file));
    drop_repeat(to->file);
    return true;
}

/* Parses NAME_NUMBER_assignsubmission_PLUGIN[_], or this name followed by _FILE. */
static bool parse_moodle(const char *entry, bool is_folder, struct cl_download_entry *to)
{
    static const char mark[] = "_assignsubmission_";
    const char *at = strstr(entry, mark), *id = at;
    if (!at)
        return false;
    while (id > entry && isdigit((unsigned char)id[-1]))
        id--;
    const char *plugin = at + sizeof mark - 1, *file = strchr(plugin, '_');
    if (id > entry && id < at && id[-1] == '_') {
        put(to->person.name, sizeof to->person.name, entry, (size_t)(id - 1 - entry));
        put(to->person.id, sizeof to->person.id, id, (size_t)(at - id));
    } else { /* for a submission without a group */
        put(to->person.name, sizeof to->person.name, entry, (size_t)(at - entry));
    }
    put(to->key, sizeof to->key, entry, (size_t)(at - entry));
    if (!is_folder && (!file || !file[1]))
        return false;
    if (!is_folder)
        put(to->file, sizeof to->file, file + 1, strlen(file + 1));
    return true;
}

static bool parse_gradescope(const char *entry, bool is_folder, struct cl_download_entry *to)
{
    snprintf(to->key, sizeof to->key, "%s", entry);
    return is_folder && strncmp(entry, "submission_", 11) == 0;
}

bool cl_download_parse(enum cl_form form, const char *entry, bool is_folder,
                       struct cl_download_entry *to)
{
    *to = (struct cl_download_entry){.late = false};
    return form == CL_CANVAS   ? !is_folder && parse_canvas(entry, to)
           : form == CL_MOODLE ? parse_moodle(entry, is_folder, to)
                               : form == CL_GRADESCOPE && parse_gradescope(entry, is_folder, to);
}

/* Guesses the form. A class's folder of archives may contain a name that looks like one of
 * Canvas's, but a download contains only such names. */
enum cl_form cl_download_guess(const char *const *names, const bool *folders, size_t n)
{
    struct cl_download_entry entry;
    size_t canvas = 0, moodle = 0, files = 0;
    for (size_t i = 0; i < n; i++) {
        if (!folders[i] && strcmp(names[i], CL_METADATA) == 0)
            return CL_GRADESCOPE;
        moodle += cl_download_parse(CL_MOODLE, names[i], folders[i], &entry);
        canvas += cl_download_parse(CL_CANVAS, names[i], folders[i], &entry);
        files += !folders[i];
    }
    return moodle                                          ? CL_MOODLE
           : canvas && 2 * canvas > files && 2 * files > n ? CL_CANVAS
                                                           : CL_PLAIN;
}
