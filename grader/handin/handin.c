/* Reads a submission: its folders in this file, its archives in handin_archive.c. */
#include "grader/handin/handin_parts.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FOLDER_ENTRIES = 20000 };

static void refuse_unread(struct hi_file *file, int why)
{
    hi_refuse(file, "cannot be read: %s", strerror(why));
    file->unreadable = true;
}

static void reject(struct hi_reading *r, bool unreadable, const char *what, int why)
{
    r->taken->unreadable = unreadable;
    snprintf(r->taken->rejected, sizeof r->taken->rejected, "%s: %s", what, strerror(why));
}

/* ---- folders -------------------------------------------------------------------------------- */

/* Keeps the bytes of an open file. The file may change meanwhile: exactly the bytes read here are
 * graded. */
static enum st_code keep_open_file(struct hi_file *file, int fd, size_t limit, struct st_error *err)
{
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode)) {
        hi_refuse(file, "is not a regular file");
        return ST_OK;
    }
    file->modified = info.st_mtime;
    if ((size_t)info.st_size > limit) {
        hi_refuse(file, "has %lld bytes; at most %zu are accepted", (long long)info.st_size, limit);
        return ST_OK;
    }
    char *contents = malloc((size_t)info.st_size + 1);
    ssize_t n = 0;
    if (!contents)
        return st_fail(err, ST_NO_MEMORY, "out of memory for a file that was handed in");
    while (file->bytes < (size_t)info.st_size &&
           (n = read(fd, contents + file->bytes, (size_t)info.st_size - file->bytes)) > 0)
        file->bytes += (size_t)n;
    if (n < 0) {
        refuse_unread(file, errno);
        free(contents);
    } else {
        file->contents = contents;
    }
    return ST_OK;
}

static int open_plain(int dir, const char *name)
{
    return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Reads an archive that was handed in, alone or in a folder. */
static enum st_code read_nested(struct hi_reading *r, int dir, const char *entry, const char *name,
                                struct st_error *err)
{
    const int archive = open_plain(dir, entry);
    struct stat info;
    enum st_code code = ST_OK;
    if (archive < 0 || fstat(archive, &info) || !S_ISREG(info.st_mode))
        reject(r, archive < 0 && errno != ELOOP, "its archive cannot be read",
               archive < 0 ? errno : EINVAL);
    else
        code = hi_read_archive(r, archive, name, err);
    if (archive >= 0)
        close(archive);
    return code;
}

static enum st_code look(struct hi_reading *r, int dir, const char *below, int depth,
                         struct st_error *err);

static enum st_code look_at(struct hi_reading *r, int dir, const char *entry, const char *path,
                            int depth, struct st_error *err)
{
    struct stat info;
    size_t limit;
    if (++r->entries > MAX_FOLDER_ENTRIES || fstatat(dir, entry, &info, AT_SYMLINK_NOFOLLOW))
        return ST_OK;
    if (S_ISDIR(info.st_mode)) {
        if (depth >= HI_MAX_DEPTH)
            return ST_OK;
        const int folder = openat(dir, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0)
            return look(r, folder, path, depth + 1, err);
        if (errno != ELOOP && errno != ENOTDIR)
            snprintf(r->taken->note, sizeof r->taken->note, "%.300s cannot be read: %s", path,
                     strerror(errno));
        return ST_OK;
    }
    if (S_ISREG(info.st_mode) && hi_archive_stem(entry))
        return r->archives ? read_nested(r, dir, entry, path, err) : ST_OK;
    if (r->archives)
        return ST_OK; /* the first pass has offered the file */
    struct hi_file *file = hi_offer(r, path, &limit);
    if (!file)
        return ST_OK;
    const int fd = open_plain(dir, entry);
    enum st_code code = ST_OK;
    if (fd >= 0)
        code = keep_open_file(file, fd, limit, err);
    else if (errno == ELOOP)
        hi_refuse(file, "is a link, which the grader does not follow");
    else if (errno == ENXIO) /* the file is a socket */
        hi_refuse(file, "is not a regular file");
    else
        refuse_unread(file, errno);
    if (fd >= 0)
        close(fd);
    return code;
}

/* Reads an entry of a folder; closes dir. */
static enum st_code look(struct hi_reading *r, int dir, const char *below, int depth,
                         struct st_error *err)
{
    DIR *entries = fdopendir(dir);
    enum st_code code = ST_OK;
    if (!entries) {
        close(dir);
        return ST_OK;
    }
    for (struct dirent *e; !code && (e = readdir(entries));) {
        char path[HI_PATH_BYTES];
        if (e->d_name[0] != '.' && /* skips files of tools and systems: .git, .DS_Store, ._conv.c */
            path_format(path, sizeof path, "%s%s%s", below, below[0] ? "/" : "", e->d_name))
            code = look_at(r, dirfd(entries), e->d_name, path, depth, err);
    }
    closedir(entries);
    return code;
}

/* ---- the whole submission ------------------------------------------------------------------- */

static enum st_code take_part(struct hi_reading *r, const struct hi_part *part,
                              struct st_error *err)
{
    struct stat info;
    if (lstat(part->path, &info)) {
        reject(r, true, "it cannot be read", errno);
        return ST_OK;
    }
    if (!S_ISDIR(info.st_mode) && !part->name[0])
        return r->archives ? ST_OK : read_nested(r, AT_FDCWD, part->path, part->name, err);
    if (!S_ISDIR(info.st_mode))
        return look_at(r, AT_FDCWD, part->path, part->name, 0, err);
    const int dir = open(part->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0) {
        reject(r, true, "its folder cannot be read", errno);
        return ST_OK;
    }
    return look(r, dir, part->name, 0, err);
}

/* The number of milestones that have a file with the right name. */
static size_t sources(const struct hi_reading *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->handin->milestones; i++)
        n += r->taken->source[i].match >= HI_LONE_FILE;
    return n;
}

/* Turns a fault into a note if it affects only one of several archives, or if files were found
 * elsewhere. */
static void forgive(struct hi_reading *r)
{
    struct hi_taken *taken = r->taken;
    if (!taken->rejected[0] || !sources(r))
        return;
    snprintf(taken->note, sizeof taken->note, "%s", taken->rejected);
    taken->rejected[0] = '\0';
    taken->unreadable = false;
}

/* If a folder could not be read, gives this as the reason for missing files: it may contain
 * them. */
static void blame_unread_folder(struct hi_reading *r)
{
    if (!strstr(r->taken->note, " cannot be read: "))
        return;
    for (size_t i = 0; i < r->handin->milestones; i++) {
        struct hi_file *file = &r->taken->source[i];
        if (file->match >= HI_LONE_FILE)
            continue;
        hi_file_empty(file);
        file->match = HI_LONE_FILE;
        file->unreadable = true;
        const size_t length = strcspn(r->taken->note, ":") - strlen(" cannot be read");
        snprintf(file->path, sizeof file->path, "%.*s", (int)length, r->taken->note);
        hi_refuse(file, "%.250s", r->taken->note + length + 1);
    }
}

enum st_code hi_take(struct hi_taken *taken, const struct hi_handin *handin, struct st_error *err)
{
    struct hi_reading r = {.handin = handin, .taken = taken};
    enum st_code code = ST_OK;
    memset(taken, 0, sizeof *taken);
    /* The second pass opens archives in folders, only for milestones without a file outside
     * archives. */
    for (int pass = 0; !code && pass < 2; pass++) {
        r.archives = pass == 1;
        if (r.archives && sources(&r) == handin->milestones)
            break;
        r.entries = 0;
        for (size_t i = 0; !code && i < handin->parts; i++)
            code = take_part(&r, &handin->part[i], err);
    }
    forgive(&r);
    blame_unread_folder(&r);
    /* The order of a folder's entries is arbitrary, so reading only the first entries would be
     * unfair. */
    if (r.entries > MAX_FOLDER_ENTRIES)
        snprintf(taken->rejected, sizeof taken->rejected,
                 "its folder has more than %d files and folders, the limit", MAX_FOLDER_ENTRIES);
    for (size_t i = 0; i < handin->milestones; i++)
        if (taken->source[i].twice && taken->source[i].match >= HI_LONE_FILE)
            hi_refuse(&taken->source[i], "%s", HI_TWICE);
    return code;
}
