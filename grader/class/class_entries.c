/* The entries of the class's folder and their owners, sorted by the bytes of their names, so that
 * every run sees the same order. */
#include "grader/class/class.h"

#include "base/array_room.h"
#include "base/files.h"
#include "grader/class/download.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- submissions ---------------------------------------------------------------------------- */

struct cl_submission *cl_submission_find(const struct cl_class *class, const char *name)
{
    for (size_t i = 0; i < class->submissions; i++)
        if (strcmp(class->submission[i].name, name) == 0)
            return &class->submission[i];
    return NULL;
}

struct cl_submission *cl_submission_add(struct cl_class *class, const char *bytes)
{
    char name[CL_NAME_BYTES], hex[2 * CL_NAME_BYTES];
    const bool valid = cl_name_text(name, bytes);
    if (!ARRAY_ROOM(class->submission, class->submissions))
        return NULL;
    struct cl_submission *s = &class->submission[class->submissions++];
    *s = (struct cl_submission){.kind = "none", .submitted = NAN, .source = ""};
    cl_name_hex(hex, bytes);
    s->name = strdup(name);
    s->raw_name = valid ? NULL : strdup(hex);
    s->team = strdup("");
    return s;
}

static enum st_code add_part(struct cl_class *class, struct cl_submission *s, const char *entry,
                             const char *name, struct st_error *err)
{
    char path[PATH_MAX];
    if (!ARRAY_ROOM(s->part, s->parts) ||
        !path_format(path, sizeof path, "%s/%s", class->options->dir, entry))
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class");
    s->part[s->parts++] = (struct hi_part){strdup(path), strdup(name)};
    if (!s->entry)
        s->entry = strdup(entry);
    return ST_OK;
}

/* ---- entries left out ----------------------------------------------------------------------- */

/* Whether an entry is part of a gradebook: the folder may contain this gradebook or another one. */
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

/* Whether an entry is the roster, which may be in the folder of submissions. */
static bool is_roster(const struct cl_class *class, const struct stat *info)
{
    struct stat roster;
    return class->options->roster && stat(class->options->roster, &roster) == 0 &&
           roster.st_dev == info->st_dev && roster.st_ino == info->st_ino;
}

/* Reports any other entry, unless it is one of our own files. */
static void report_left_out(struct cl_class *class, const char *entry, const struct stat *info,
                            bool of_download)
{
    if (S_ISLNK(info->st_mode))
        cl_notice(class, entry, "is a link, which the grader does not follow");
    else if (!is_roster(class, info))
        cl_notice(class, entry,
                  of_download
                      ? "is not a submission in a download of this kind: skipped"
                      : "is not a submission, which is a folder, or a zip or tar file: skipped");
}

/* ---- owners --------------------------------------------------------------------------------- */

/* Finds the person's row, or adds one if the class has no roster: exports need names and addresses,
 * which the platform may know better. */
static const char *name_of_person(struct cl_class *class, const struct sd_person *person,
                                  const char *key, const char *team, struct st_error *err)
{
    char odd[512];
    const struct gb_roster *row = sd_roster_find(&class->roster, person, odd, sizeof odd);
    if (odd[0])
        cl_notice(class, key, "%s", odd);
    if (row && !row->email[0] && person->email[0] &&
        gb_change(class->book, err, "UPDATE roster SET email = %Q WHERE name = %Q AND email = ''",
                  person->email, row->name))
        return NULL;
    if (row || class->options->roster)
        return row ? row->name : NULL;
    static char name[CL_NAME_BYTES];
    cl_name_text(name, person->email[0] ? person->email : person->sis_id[0] ? person->sis_id : key);
    const struct gb_roster put = {.name = name,
                                  .team = (char *)team,
                                  .display_name = (char *)person->name,
                                  .email = (char *)person->email,
                                  .platform_id = (char *)person->id,
                                  .sis_id = (char *)person->sis_id,
                                  .section = (char *)""};
    return gb_roster_put(class->book, &put, err) ? NULL : name;
}

/* Whether a team's name was made from its members' names in an earlier download: "bob+cara" for
 * bob. */
static bool is_joined(const struct gb_roster *r)
{
    const char *at = strstr(r->team, r->name);
    const size_t length = strlen(r->name);
    return at && (at == r->team ? at[length] == '+' : at[-1] == '+');
}

/* A team's name: the roster's, or its members' names joined. */
static const char *name_of_team(struct cl_class *class, const struct cl_metadata_row *row)
{
    static char joined[CL_NAME_BYTES];
    char odd[512];
    joined[0] = '\0';
    for (size_t i = 0; i < row->people; i++) {
        const struct gb_roster *r =
            sd_roster_find(&class->roster, &row->person[i], odd, sizeof odd);
        if (r && r->team[0] && r->line > 0 && !is_joined(r))
            return r->team;
        const size_t used = strlen(joined);
        snprintf(joined + used, sizeof joined - used, "%s%s", used ? "+" : "",
                 r                         ? r->name
                 : row->person[i].email[0] ? row->person[i].email
                                           : row->person[i].name);
    }
    return joined;
}

static enum st_code put_member(struct cl_class *class, const char *student, const char *team,
                               struct st_error *err)
{
    enum st_code code = ST_OK;
    for (size_t m = 0; !code && m < class->options->milestones; m++) {
        const struct gb_member put = {.student = (char *)student,
                                      .milestone = (char *)class->options->milestone[m].id,
                                      .submission = (char *)team};
        code = gb_member_put(class->book, &put, err);
    }
    return code;
}

/* Gradescope lists the people who handed in together. A person may be in another team for another
 * milestone: the roster keeps the team that it has, or gets the first one. */
static const char *name_of_people(struct cl_class *class, const struct cl_metadata_row *row,
                                  const char *key, struct st_error *err)
{
    if (row->people == 1)
        return name_of_person(class, &row->person[0], key, "", err);
    const char *team = name_of_team(class, row);
    for (size_t i = 0; i < row->people; i++) {
        const char *name = name_of_person(class, &row->person[i], key, team, err);
        if (name && put_member(class, name, team, err))
            return NULL;
        if (name &&
            gb_change(class->book, err, "UPDATE roster SET team = %Q WHERE name = %Q AND team = ''",
                      team, name))
            return NULL;
    }
    return team;
}

static const struct cl_metadata_row *row_of(const struct cl_metadata *metadata, const char *folder)
{
    for (size_t i = 0; i < metadata->n; i++)
        if (strcmp(metadata->row[i].folder, folder) == 0)
            return &metadata->row[i];
    return NULL;
}

/* The name of the submission of a download's entry. A person who is not in the roster keeps the
 * platform's name, and is reported at the end. */
static const char *name_of_entry(struct cl_class *class, const struct cl_download_entry *e,
                                 const struct cl_metadata_row *row, struct st_error *err)
{
    const char *team = sd_roster_team(&class->roster, e->person.name);
    const char *name = row && row->people ? name_of_people(class, row, e->key, err)
                       : team             ? team
                       : row              ? NULL
                                          : name_of_person(class, &e->person, e->key, "", err);
    return name && name[0] ? name : e->key;
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Adds a folder or an archive that has its owner's name. */
static enum st_code add_plain(struct cl_class *class, const char *entry, const struct stat *info,
                              struct st_error *err)
{
    const size_t taken = hi_archive_stem(entry), unread = hi_unread_stem(entry);
    const bool folder = S_ISDIR(info->st_mode);
    char stem[NAME_MAX + 1], name[CL_NAME_BYTES];
    if (!folder && !(S_ISREG(info->st_mode) && (taken || unread))) {
        report_left_out(class, entry, info, false);
        return ST_OK;
    }
    snprintf(stem, sizeof stem, "%.*s",
             (int)(folder  ? strlen(entry)
                   : taken ? taken
                           : unread),
             entry);
    cl_name_text(name, stem);
    struct cl_submission *s = cl_submission_find(class, name);
    if (s) {
        snprintf(s->rejected, sizeof s->rejected,
                 "handed in twice, as %.200s and as %.200s (hint: remove or rename one of them)",
                 s->entry, entry);
        return ST_OK;
    }
    if (!(s = cl_submission_add(class, stem)))
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class");
    s->kind = folder ? "folder" : "archive";
    s->modified = info->st_mtime;
    if (!folder && !taken)
        snprintf(
            s->rejected, sizeof s->rejected,
            "%.200s is an archive of an unsupported kind (hint: a folder, or a zip or tar file)",
            entry);
    return add_part(class, s, entry, "", err);
}

static struct cl_submission *submission_of_key(const struct cl_class *class, const char *key)
{
    for (size_t i = 0; i < class->submissions; i++)
        if (class->submission[i].key && strcmp(class->submission[i].key, key) == 0)
            return &class->submission[i];
    return NULL;
}

/* Begins the submission of a download's entry, or finds it. */
static enum st_code begin(struct cl_class *class, const struct cl_download_entry *e,
                          const struct cl_metadata_row *row, const char *entry,
                          struct cl_submission **s, struct st_error *err)
{
    char name[CL_NAME_BYTES];
    snprintf(name, sizeof name, "%s", name_of_entry(class, e, row, err));
    const struct cl_submission *other = cl_submission_find(class, name);
    if (other) {
        cl_notice(
            class, name,
            "has handed in twice, as %.200s and as %.200s; in the gradebook, the second one has the name %.200s",
            other->entry, entry, e->key);
        snprintf(name, sizeof name, "%s", e->key);
    }
    if (!(*s = cl_submission_add(class, name)))
        return st_fail(err, ST_NO_MEMORY, "out of memory for the class");
    (*s)->key = strdup(e->key);
    (*s)->kind = "folder";
    (*s)->source = class->form_name;
    (*s)->submitted = row ? row->submitted : NAN;
    if (row && isnan(row->submitted))
        cl_notice(class, e->key,
                  CL_METADATA
                  " has no readable submission time for it, so its lateness is unknown");
    return ST_OK;
}

/* Adds an entry of a download. Several entries may belong to one submission. */
static enum st_code add_of_download(struct cl_class *class, enum cl_form form,
                                    const struct cl_metadata *metadata, const char *entry,
                                    const struct stat *info, struct st_error *err)
{
    struct cl_download_entry e;
    const bool folder = S_ISDIR(info->st_mode);
    if ((!folder && !S_ISREG(info->st_mode)) || !cl_download_parse(form, entry, folder, &e)) {
        if (strcmp(entry, CL_METADATA) != 0)
            report_left_out(class, entry, info, true);
        return ST_OK;
    }
    const struct cl_metadata_row *row = row_of(metadata, entry);
    struct cl_submission *s = submission_of_key(class, e.key);
    if (form == CL_GRADESCOPE && !row && metadata->n)
        cl_notice(class, entry, "is not in " CL_METADATA ": its student is unknown");
    enum st_code code = s ? ST_OK : begin(class, &e, row, entry, &s, err);
    if (code)
        return code;
    s->marked_late |= e.late;
    s->modified = info->st_mtime > s->modified ? info->st_mtime : s->modified;
    return add_part(class, s, entry, e.file, err);
}

static enum st_code read_metadata(struct cl_class *class, enum cl_form form,
                                  struct cl_metadata *metadata)
{
    char path[PATH_MAX];
    struct st_error odd;
    if (form != CL_GRADESCOPE)
        return ST_OK;
    path_format(path, sizeof path, "%s/" CL_METADATA, class->options->dir);
    if (cl_metadata_read(path, metadata, &odd))
        cl_notice(class, NULL, "%s: %s (hint: %s)", odd.where, odd.what, odd.hint);
    for (size_t i = 0; i < metadata->n; i++) {
        path_format(path, sizeof path, "%s/%s", class->options->dir, metadata->row[i].folder);
        if (strchr(metadata->row[i].folder, '/') || !file_exists(path))
            cl_notice(class, NULL, CL_METADATA " names a folder that does not exist: %s",
                      metadata->row[i].folder);
    }
    return ST_OK;
}

/* ---- the folder ----------------------------------------------------------------------------- */

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "__MACOSX") != 0;
}

static enum cl_form form_of(const struct cl_class *class, int dir, struct dirent **entries, int n)
{
    const char **name = calloc((size_t)n + 1, sizeof *name);
    bool *folder = calloc((size_t)n + 1, sizeof *folder);
    enum cl_form form = CL_PLAIN;
    size_t named = 0;
    for (int i = 0; name && folder && i < n; i++) {
        struct stat info;
        if (fstatat(dir, entries[i]->d_name, &info, AT_SYMLINK_NOFOLLOW) ||
            is_gradebooks(dir, entries[i]->d_name, &info) || is_roster(class, &info))
            continue;
        name[named] = entries[i]->d_name;
        folder[named++] = S_ISDIR(info.st_mode);
    }
    if (name && folder)
        form = cl_download_guess(name, folder, named);
    for (int i = 0; class->options->form && cl_form_names[i]; i++)
        if (strcmp(cl_form_names[i], class->options->form) == 0)
            form = (enum cl_form)i;
    free(name);
    free(folder);
    return form;
}

static enum st_code add_entry(struct cl_class *class, int dir, enum cl_form form,
                              const struct cl_metadata *metadata, const char *entry,
                              struct st_error *err)
{
    struct stat info;
    char shown[CL_SHOWN_BYTES];
    if (fstatat(dir, entry, &info, AT_SYMLINK_NOFOLLOW))
        return st_fail_errno(err, errno, "cannot read %s", cl_name_shown(shown, entry));
    if (is_gradebooks(dir, entry, &info))
        return ST_OK;
    return form == CL_PLAIN ? add_plain(class, entry, &info, err)
                            : add_of_download(class, form, metadata, entry, &info, err);
}

enum st_code cl_entries_find(struct cl_class *class, struct st_error *err)
{
    struct dirent **entries;
    struct cl_metadata metadata = {0};
    const char *path = class->options->dir;
    int n = scandir(path, &entries, is_visible, by_bytes);
    int dir = n >= 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0) {
        const bool file = errno == ENOTDIR;
        st_fail_errno(err, errno, "cannot read the class's folder");
        st_detail(err, ST_WHERE, "%s", path);
        return file ? st_detail(err, ST_HINT, "unpack the download first, and pass its folder")
                    : err->code;
    }
    const enum cl_form form = form_of(class, dir, entries, n);
    class->form_name = form ? cl_form_names[form] : "";
    if (form)
        printf("A download of %c%s\n", class->form_name[0] - 'a' + 'A', class->form_name + 1);
    enum st_code code = read_metadata(class, form, &metadata);
    for (int i = 0; i < n; i++) {
        if (!code)
            code = add_entry(class, dir, form, &metadata, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    close(dir);
    cl_metadata_free(&metadata);
    return code;
}
