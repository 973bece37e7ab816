/* What was handed in. Entries of the class's folder are taken in the order of their names' bytes,
 * so that every run sees the same. */
#include "grader/class/class.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the class's folder --------------------------------------------------------------------- */

static const char *const suffixes[] = {".zip",     ".tar",  ".tar.gz",  ".tgz",  ".tar.xz", ".txz",
                                       ".tar.zst", ".tzst", ".tar.bz2", ".tbz2", ".tbz",    NULL};
/* Handed in by somebody, but not read here. */
static const char *const unread[] = {".7z", ".rar", ".tar.lz", ".tlz", ".tar.lzma", ".tar.z", NULL};

/* The length of an archive's name without its suffix, 0 if it has none of these. */
static size_t stem_length(const char *entry, const char *const *suffix)
{
    size_t length = strlen(entry);
    for (; *suffix; suffix++) {
        size_t n = strlen(*suffix);
        if (length > n && strcasecmp(entry + length - n, *suffix) == 0)
            return length - n;
    }
    return 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static struct cl_submission *find(struct cl_class *class, const char *name)
{
    for (size_t i = 0; i < class->submissions; i++)
        if (strcmp(class->submission[i].name, name) == 0)
            return &class->submission[i];
    return NULL;
}

/* @return a new submission, or the one of this name, rejected because there are two now. */
static struct cl_submission *add(struct cl_class *class, const char *bytes, const char *entry)
{
    char name[CL_NAME_BYTES], hex[2 * CL_NAME_BYTES];
    bool valid = cl_name_text(name, bytes);
    struct cl_submission *s = find(class, name);
    if (s) {
        snprintf(s->rejected, sizeof s->rejected,
                 "handed in twice, as %.200s and as %.200s (hint: remove or rename one of them)",
                 s->entry, entry);
        return s;
    }
    struct cl_submission *more =
        realloc(class->submission, (class->submissions + 1) * sizeof *more);
    if (!more)
        return NULL;
    class->submission = more;
    s = &more[class->submissions++];
    memset(s, 0, sizeof *s);
    cl_name_hex(hex, bytes);
    s->name = strdup(name);
    s->raw_name = valid ? NULL : strdup(hex);
    s->entry = entry ? strdup(entry) : NULL;
    s->team = strdup("");
    s->kind = "none";
    return s;
}

/* A gradebook may lie there too, this one or another. */
static bool is_gradebooks(int dir, const char *entry, const struct stat *info)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[NAME_MAX + 32];
    struct stat other;
    size_t length = strlen(entry);
    if (S_ISDIR(info->st_mode)) { /* GRADEBOOK.files */
        snprintf(name, sizeof name, "%s/class.lock", entry);
        return length > 6 && strcmp(entry + length - 6, ".files") == 0 &&
               fstatat(dir, name, &other, AT_SYMLINK_NOFOLLOW) == 0;
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length <= end || strcmp(entry + length - end, ends[i]) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s.files/class.lock", (int)(length - end), entry);
        if (fstatat(dir, name, &other, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}

/* The roster may lie beside what was handed in. */
static bool is_roster(const struct cl_class *class, const struct stat *info)
{
    struct stat roster;
    return class->options->roster && stat(class->options->roster, &roster) == 0 &&
           roster.st_dev == info->st_dev && roster.st_ino == info->st_ino;
}

/* One entry of the class's folder. */
static enum st_code add_entry(struct cl_class *class, int dir, const char *entry,
                              struct st_error *err)
{
    struct stat info;
    char shown[CL_SHOWN_BYTES], stem[NAME_MAX + 1];
    const size_t taken = stem_length(entry, suffixes);
    size_t length = taken ? taken : stem_length(entry, unread);
    cl_name_shown(shown, entry);
    if (fstatat(dir, entry, &info, AT_SYMLINK_NOFOLLOW))
        return st_fail_errno(err, errno, "cannot read %s", shown);
    if (is_gradebooks(dir, entry, &info))
        return ST_OK;
    if (!S_ISDIR(info.st_mode) && !(length && S_ISREG(info.st_mode))) {
        if (S_ISLNK(info.st_mode))
            cl_notice(class, entry, "is a link, which is not followed");
        else if (!is_roster(class, &info))
            cl_notice(class, entry, "is no submission (a folder, or a zip or tar file): left out");
        return ST_OK;
    }
    if (S_ISDIR(info.st_mode))
        length = strlen(entry);
    snprintf(stem, sizeof stem, "%.*s", (int)length, entry);
    struct cl_submission *s = add(class, stem, entry);
    if (!s)
        return st_fail(err, ST_NO_MEMORY, "cannot hold the class in memory");
    if (!s->rejected[0]) {
        s->kind = S_ISDIR(info.st_mode) ? "folder" : "archive";
        s->modified = info.st_mtime;
        if (!S_ISDIR(info.st_mode) && !taken)
            snprintf(
                s->rejected, sizeof s->rejected,
                "%.200s is an archive of a kind that is not read (hint: a folder, or a zip or tar file)",
                entry);
    }
    return ST_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Members of the roster of whom nothing was handed in, neither by name nor by team. */
static enum st_code add_absent(struct cl_class *class, struct st_error *err)
{
    struct gb_roster_list roster;
    enum st_code code = gb_roster_read(class->book, &roster, err, "ORDER BY line");
    for (size_t i = 0; !code && i < roster.n; i++) {
        const struct gb_roster *r = &roster.row[i];
        struct cl_submission *s = find(class, r->name);
        struct cl_submission *teams = r->team[0] ? find(class, r->team) : NULL;
        if (s && teams && s != teams && s->entry && teams->entry)
            cl_notice(class, r->name, "has handed in alone, which counts, and in team %s, too",
                      r->team);
        if (!s)
            s = teams;
        if (!s && !(s = add(class, r->team[0] ? r->team : r->name, NULL)))
            code = st_fail(err, ST_NO_MEMORY, "cannot hold the class in memory");
        if (s && r->team[0]) {
            free(s->team);
            s->team = strdup(r->team);
        }
    }
    for (size_t i = 0; !code && roster.n && i < class->submissions; i++) {
        bool known = false;
        for (size_t k = 0; k < roster.n && !known; k++)
            known = strcmp(roster.row[k].name, class->submission[i].name) == 0 ||
                    strcmp(roster.row[k].team, class->submission[i].name) == 0;
        if (!known && class->submission[i].entry)
            cl_notice(class, class->submission[i].name, "is not in the roster");
    }
    gb_roster_free(&roster);
    return code;
}

static enum st_code find_entries(struct cl_class *class, struct st_error *err)
{
    struct dirent **entries;
    const char *path = class->options->dir;
    int n = scandir(path, &entries, is_visible, by_bytes);
    int dir = n >= 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0) {
        st_fail_errno(err, errno, "cannot read the class's folder");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    enum st_code code = ST_OK;
    for (int i = 0; i < n; i++) {
        if (!code)
            code = add_entry(class, dir, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    close(dir);
    return code;
}

/* The hash of what was handed in. */
static void hash_submission(const struct cl_class *class, struct cl_submission *s,
                            char hex[SHA256_HEX])
{
    struct sha256 hash;
    sha256_begin(&hash);
    for (size_t i = 0; i < class->options->milestones; i++)
        sha256_add(&hash, s->file[i].hash, strlen(s->file[i].hash));
    sha256_end_hex(&hash, hex);
}

static enum st_code put_submission(struct cl_class *class, struct cl_submission *s,
                                   struct st_error *err)
{
    char path[CL_NAME_BYTES], hash[SHA256_HEX], message[CL_NAME_BYTES];
    cl_name_text(path, s->entry ? s->entry : "");
    cl_name_text(message, s->rejected);
    hash_submission(class, s, hash);
    const struct gb_submission put = {.name = s->name,
                                      .raw_name = s->raw_name,
                                      .team = s->team,
                                      .path = s->entry ? path : NULL,
                                      .kind = (char *)s->kind,
                                      .hash = s->entry ? hash : NULL,
                                      .modified = s->modified,
                                      .status = s->rejected[0] ? "rejected"
                                                : s->entry     ? "ok"
                                                               : "none",
                                      .message = message};
    return gb_submission_put(class->book, &put, err);
}

static enum st_code take(struct cl_class *class, struct cl_submission *s, struct st_error *err)
{
    if (!s->entry || s->rejected[0] || !cl_is_selected(class->options, s->name))
        return ST_OK;
    return strcmp(s->kind, "folder") == 0 ? cl_intake_folder(class, s, err)
                                          : cl_intake_archive(class, s, err);
}

/* What was graded before and is not there now: renamed, withdrawn, or of another folder. Who is in
 * the roster is missing instead. */
static enum st_code tell_gone(struct cl_class *class, struct st_error *err)
{
    enum { NAMED = 5 };
    struct gb_submission_list known;
    char names[NAMED * (CL_SHOWN_BYTES + 2)] = "", shown[CL_SHOWN_BYTES];
    size_t gone = 0;
    enum st_code code = gb_submission_read(class->book, &known, err,
                                           "WHERE name IN (SELECT submission FROM grade) ORDER BY "
                                           "name");
    if (code)
        return code;
    for (size_t i = 0; i < known.n; i++) {
        if (find(class, known.row[i].name))
            continue;
        const size_t used = strlen(names);
        if (gone++ < NAMED)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     cl_name_shown(shown, known.row[i].name));
    }
    gb_submission_free(&known);
    if (gone)
        cl_notice(
            class, NULL,
            "%zu of the gradebook are not in the class's folder, their grades stay (hint: grader gradebook --forget NAME): %s%s",
            gone, names, gone > NAMED ? ", ..." : "");
    return ST_OK;
}

/* A name of --only that nobody has is a mistake in typing. */
static void check_only(struct cl_class *class)
{
    const char *only = class->options->only, *at = only;
    char name[CL_NAME_BYTES];
    if (only && find(class, only))
        return;
    while (at && cl_list_next(&at, name, sizeof name))
        if (!find(class, name))
            cl_notice(class, name, "--only: no submission is called so");
}

enum st_code cl_intake(struct cl_class *class, struct st_error *err)
{
    enum st_code code = find_entries(class, err);
    if (!code)
        code = add_absent(class, err);
    if (!code)
        check_only(class);
    if (!code)
        code = tell_gone(class, err);
    for (size_t i = 0; !code && i < class->submissions; i++)
        code = take(class, &class->submission[i], err);
    if (!code)
        code = gb_begin(class->book, err);
    for (size_t i = 0; !code && i < class->submissions; i++) {
        struct cl_submission *s = &class->submission[i];
        if (!cl_is_selected(class->options, s->name))
            continue;
        if (s->rejected[0])
            cl_notice(class, s->name, "%s: %s", s->unreadable ? "not graded" : "rejected",
                      s->rejected);
        for (size_t m = 0; m < class->options->milestones; m++)
            if (s->file[m].refused[0])
                cl_notice(class, s->name, "%s: %s %s", class->options->milestone[m].id,
                          s->file[m].path, s->file[m].refused);
        code = put_submission(class, s, err);
    }
    if (!code)
        code = gb_commit(class->book, err);
    gb_rollback(class->book);
    return code;
}

void cl_submissions_free(struct cl_class *class)
{
    for (size_t i = 0; i < class->submissions; i++) {
        struct cl_submission *s = &class->submission[i];
        for (size_t m = 0; m < CL_MAX_MILESTONES; m++) {
            free(s->file[m].path);
            free(s->file[m].copy);
        }
        free(s->entry);
        free(s->name);
        free(s->raw_name);
        free(s->team);
    }
    free(class->submission);
    class->submission = NULL;
    class->submissions = 0;
}
