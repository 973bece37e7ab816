#include "grader/handin/wanted.h"
#include "base/shown_path.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Whether the last component before @p end is @p name. @param begin  set to its beginning */
static bool last_is(const char *path, const char *end, const char *name, const char **begin)
{
    size_t length = strlen(name);
    if ((size_t)(end - path) < length || memcmp(end - length, name, length) != 0)
        return false;
    *begin = end - length;
    return *begin == path || (*begin)[-1] == '/';
}

static size_t depth_of(const char *path)
{
    size_t depth = 0;
    for (const char *p = path; *p; p++)
        depth += *p == '/';
    return depth;
}

/* Whether a file is too deep, or belongs to macOS or Git and is not a student's work. */
static bool is_ignored(const char *path)
{
    if (depth_of(path) > HI_MAX_DEPTH || strncmp(path, "__MACOSX/", 9) == 0 ||
        strstr(path, "/__MACOSX/") || strncmp(path, ".git/", 5) == 0 || strstr(path, "/.git/"))
        return true;
    return strncmp(path_base(path), "._", 2) == 0;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t n = strlen(end);
    return length > n && strncasecmp(name + length - n, end, n) == 0;
}

/* Matches a source in the milestone's language, with any name, even if ".txt" follows, which mail
 * programs and some platforms append. */
static enum hi_match match_name(const char *name, const char *file)
{
    const char *suffix = strrchr(file, '.');
    size_t length = strlen(name);
    const size_t stem = (size_t)(suffix - file);
    if (ends_with(name, length, ".txt"))
        length -= 4;
    if (!ends_with(name, length, suffix))
        return HI_NO_MATCH;
    return strncasecmp(name, file, stem) == 0 ? HI_NEAR_NAME : HI_OTHER_NAME;
}

/* Whether a path's file is in a folder with the milestone's name, directly or @p deeper. */
static bool lies_in(const struct hi_wanted *wanted, const char *path, const char *file, bool deeper)
{
    const char *folder;
    for (const char *end = file - 1; end > path; end = folder - 1) {
        if (last_is(path, end, wanted->folder, &folder) || last_is(path, end, wanted->id, &folder))
            return true;
        for (folder = end; folder > path && folder[-1] != '/'; folder--)
            ;
        if (!deeper || folder == path)
            return false;
    }
    return false;
}

static const char *without_dot(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return path;
}

enum hi_match hi_match_path(const struct hi_wanted *wanted, size_t n, const char *path,
                            size_t *which)
{
    enum hi_match best = HI_NO_MATCH;
    path = without_dot(path);
    if (is_ignored(path))
        return HI_NO_MATCH;
    const char *name = path_base(path);
    for (size_t i = 0; i < n; i++) {
        enum hi_match match = HI_NO_MATCH;
        if (strcmp(name, wanted[i].file) == 0)
            match = lies_in(&wanted[i], path, name, false) ? HI_IN_ITS_FOLDER
                    : n > 1                                ? HI_NO_MATCH
                    : name == path                         ? HI_AT_TOP
                                                           : HI_LONE_FILE;
        else if (n == 1 || lies_in(&wanted[i], path, name, false))
            match = match_name(name, wanted[i].file);
        if (match > best) {
            best = match;
            *which = i;
        }
    }
    return best;
}

/* Whether "m1" is a word in a name: report-m1.pdf, but not m12.pdf. */
static bool names_milestone(const char *name, const char *id)
{
    const size_t length = strlen(id);
    for (const char *at = name; (at = strcasestr(at, id)); at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isdigit((unsigned char)at[length]))
            return true;
    return false;
}

int hi_match_report(const struct hi_wanted *wanted, size_t n, const char *path, size_t *which)
{
    path = without_dot(path);
    const char *name = path_base(path);
    const size_t length = strlen(name);
    const bool pdf = ends_with(name, length, ".pdf");
    int best = 0;
    if (is_ignored(path) || (!pdf && !ends_with(name, length, ".md")) ||
        strncasecmp(name, "readme", 6) == 0 || strstr(path, "docs/") ||
        strstr(path, "report-templates/"))
        return 0;
    for (size_t i = 0; i < n; i++) {
        const bool own =
            lies_in(&wanted[i], path, name, true) || names_milestone(name, wanted[i].id);
        const int match =
            own || n == 1 ? 1 + pdf + 2 * (strncasecmp(name, "report", 6) == 0) + 4 * own : 0;
        if (match > best) {
            best = match;
            *which = i;
        }
    }
    return best;
}

static size_t stem_length(const char *name, const char *const *suffix)
{
    const size_t length = strlen(name);
    for (; *suffix; suffix++)
        if (ends_with(name, length, *suffix))
            return length - strlen(*suffix);
    return 0;
}

size_t hi_archive_stem(const char *name)
{
    static const char *const suffixes[] = {".zip",     ".tar",  ".tar.gz",  ".tgz",
                                           ".tar.xz",  ".txz",  ".tar.zst", ".tzst",
                                           ".tar.bz2", ".tbz2", ".tbz",     NULL};
    return stem_length(name, suffixes);
}

size_t hi_unread_stem(const char *name)
{
    static const char *const suffixes[] = {".7z",       ".rar",   ".tar.lz", ".tlz",
                                           ".tar.lzma", ".tar.z", NULL};
    return stem_length(name, suffixes);
}

bool hi_file_is_cuda(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".cu") == 0;
}

const char *hi_path_refused(const char *path)
{
    if (!path || !path[0])
        return "an entry without a name";
    if (path[0] == '/' || (path[0] && path[1] == ':'))
        return "an absolute path";
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, "/\\");
        if (length == 2 && p[0] == '.' && p[1] == '.')
            return "a path with ..";
        p += length;
        p += *p != '\0';
    }
    return NULL;
}
