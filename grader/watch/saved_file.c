#include "grader/watch/saved_file.h"

#include "base/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

static enum st_code watch_folder_of(struct saved_file *f, const char *path, struct st_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    path_format(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                slash ? path : ".");
    const int watch = inotify_add_watch(
        f->fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
    if (watch < 0) {
        const int reason = errno;
        st_fail_errno(err, reason, "cannot watch the folder");
        st_detail(err, ST_WHERE, "%s", folder);
        if (reason == ENOSPC)
            st_detail(err, ST_HINT,
                      "too much is watched: close an editor, or raise fs.inotify.max_user_watches");
        return err->code;
    }
    f->watch[f->folders] = watch;
    snprintf(f->name[f->folders++], sizeof f->name[0], "%.255s", slash ? slash + 1 : path);
    return ST_OK;
}

enum st_code saved_file_open(struct saved_file *f, const char *path, struct st_error *err)
{
    char real[PATH_MAX];
    *f = (struct saved_file){.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (f->fd < 0) {
        st_fail_errno(err, errno, "cannot watch files");
        return st_detail(err, ST_HINT, "close an editor, or raise fs.inotify.max_user_instances");
    }
    path_format(f->path, sizeof f->path, "%s", path);
    enum st_code code = watch_folder_of(f, path, err);
    if (!code && realpath(path, real) && strcmp(real, path) != 0)
        code = watch_folder_of(f, real, err);
    if (!code)
        saved_file_changed(f);
    return code;
}

bool saved_file_touched(struct saved_file *f, bool *lost)
{
    _Alignas(struct inotify_event) char room[4096];
    bool touched = false;
    ssize_t got;
    while ((got = read(f->fd, room, sizeof room)) > 0)
        for (char *at = room; at < room + got;) {
            const struct inotify_event *e = (const struct inotify_event *)at;
            *lost = *lost || (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED));
            touched = touched || (e->mask & IN_Q_OVERFLOW);
            for (int i = 0; i < f->folders; i++)
                touched = touched ||
                          (e->wd == f->watch[i] && e->len > 0 && strcmp(e->name, f->name[i]) == 0);
            at += sizeof *e + e->len;
        }
    return touched;
}

bool saved_file_changed(struct saved_file *f)
{
    char *data, before[SHA256_HEX];
    size_t bytes;
    memcpy(before, f->hash, sizeof before);
    f->hash[0] = '\0';
    if (!file_read(f->path, MOST_BYTES, &data, &bytes, NULL)) {
        sha256_hex(data, bytes, f->hash);
        free(data);
    }
    return f->hash[0] && strcmp(before, f->hash) != 0;
}

void saved_file_close(struct saved_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}
