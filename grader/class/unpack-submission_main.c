/* build/unpack-submission ARCHIVE FOLDER LARGEST_BYTES (ID FOLDER FILE)...: takes the milestones'
 * files out of a zip or tar file, as ID (in FOLDER), and nothing else. Only grader class calls it,
 * as a process of its own within limits, because what it reads is hostile.
 *
 * It prints a table: what, milestone, path in the archive, text
 *
 *     file      m1   s001/m1-cpu-conv/conv.c            taken out
 *     large     m1   s001/m1-cpu-conv/conv.c   104857600   not taken out: so many bytes
 *     rejected  -    ../conv.c   a path with ..         the archive as a whole; nothing is taken
 *
 * Nothing is followed, nothing is made but regular files with names that we choose, in a folder
 * that is ours. What is refused is refused wherever it lies in the archive, also in parts that are
 * not wanted: an archive with such things was made to attack. */
#include "base/tsv.h"
#include "grader/class/wanted.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 20000,
    MAX_RATIO = 200,       /* unpacked bytes for each packed one, ... */
    FREE_BYTES = 16 << 20, /* beyond these */
    MAX_BYTES = 512 << 20, /* unpacked, all entries together */
    BUFFER_BYTES = 1 << 16
};

struct unpacking {
    const char *folder;
    size_t largest_bytes; /* of a file that is taken out */
    size_t milestones;
    struct cl_wanted wanted[CL_MAX_MILESTONES];
    struct {
        enum cl_match match;
        char path[1024];
        size_t large; /* its size, if too large */
        bool twice;
    } found[CL_MAX_MILESTONES];
    struct archive *archive;
    long long packed, unpacked;
};

static void say(const char *what, const char *milestone, const char *path, const char *text)
{
    const char *fields[] = {what, milestone, path, text};
    tsv_write_row(stdout, 4, fields);
}

/* Exit status 0: an archive that is refused is no failure of this program. */
static _Noreturn void reject(const struct unpacking *u, const char *path, const char *why)
{
    for (size_t i = 0; i < u->milestones; i++)
        if (u->found[i].match) {
            char made[4096];
            snprintf(made, sizeof made, "%s/%s", u->folder, u->wanted[i].id);
            unlink(made);
        }
    say("rejected", "-", path ? path : "", why);
    fflush(stdout);
    exit(0);
}

/* What an entry is, if it is anything but a file or a folder. */
static const char *kind_refused(struct archive_entry *entry)
{
    if (archive_entry_hardlink(entry))
        return "a hard link";
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
    case AE_IFDIR:
        return NULL;
    case AE_IFLNK:
        return "a symbolic link";
    case AE_IFCHR:
    case AE_IFBLK:
        return "a device";
    case AE_IFIFO:
        return "a named pipe";
    case AE_IFSOCK:
        return "a socket";
    default:
        return archive_entry_size_is_set(entry) ? NULL : "an entry of an unknown kind";
    }
}

/* Counts what was unpacked, skipped entries too. */
static void count_bytes(struct unpacking *u, const char *path, long long bytes)
{
    u->unpacked += bytes;
    long long packed = u->packed > 0 ? u->packed : 1;
    if (u->unpacked > MAX_BYTES)
        reject(u, path, "a bomb: more than 512 MiB unpacked");
    if (u->unpacked > FREE_BYTES && u->unpacked / packed > MAX_RATIO)
        reject(u, path, "a bomb: unpacks to more than 200 times its size");
}

/* Reads an entry to its end; writes it to a file if there is one. */
static size_t read_entry(struct unpacking *u, const char *path, int to)
{
    static char buffer[BUFFER_BYTES];
    size_t bytes = 0;
    for (;;) {
        la_ssize_t n = archive_read_data(u->archive, buffer, sizeof buffer);
        if (n < 0)
            reject(u, path,
                   archive_error_string(u->archive) ? archive_error_string(u->archive)
                                                    : "a damaged entry");
        if (n == 0)
            return bytes;
        count_bytes(u, path, n);
        bytes += (size_t)n;
        if (to >= 0 && bytes <= u->largest_bytes && write(to, buffer, (size_t)n) != n) {
            fprintf(stderr, "unpack-submission: cannot write to %s: %s\n", u->folder,
                    strerror(errno));
            exit(2);
        }
    }
}

static void take_entry(struct unpacking *u, const char *path)
{
    size_t which = 0;
    enum cl_match match = cl_wanted_match(u->wanted, u->milestones, path, &which);
    if (!match || match < u->found[which].match) {
        read_entry(u, path, -1);
        return;
    }
    bool twice = match == u->found[which].match;
    char made[4096];
    snprintf(made, sizeof made, "%s/%s", u->folder, u->wanted[which].id);
    int to = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0) {
        fprintf(stderr, "unpack-submission: cannot make %s: %s\n", made, strerror(errno));
        exit(2);
    }
    u->found[which].match = match;
    u->found[which].twice = twice;
    snprintf(u->found[which].path, sizeof u->found[which].path, "%s", path);
    size_t bytes = read_entry(u, path, to);
    u->found[which].large = bytes > u->largest_bytes ? bytes : 0;
    close(to);
}

static const char *path_of(struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    return path ? path : archive_entry_pathname_utf8(entry);
}

static void unpack(struct unpacking *u)
{
    struct archive_entry *entry;
    int read;
    for (int entries = 0; (read = archive_read_next_header(u->archive, &entry)) != ARCHIVE_EOF;
         entries++) {
        if (read == ARCHIVE_FATAL || read == ARCHIVE_FAILED)
            reject(u, NULL,
                   archive_error_string(u->archive) ? archive_error_string(u->archive)
                                                    : "a damaged archive");
        const char *path = path_of(entry), *why = cl_path_refused(path);
        if (!why)
            why = kind_refused(entry);
        if (!why && entries == MAX_ENTRIES)
            why = "a bomb: more than 20000 entries";
        if (!why && archive_entry_is_encrypted(entry))
            why = "an encrypted entry";
        if (why)
            reject(u, path, why);
        if (archive_entry_filetype(entry) != AE_IFDIR)
            take_entry(u, path);
    }
}

static void open_archive(struct unpacking *u, const char *path)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    off_t packed = fd >= 0 ? lseek(fd, 0, SEEK_END) : -1;
    u->archive = archive_read_new();
    if (packed < 0 || lseek(fd, 0, SEEK_SET) != 0 || !u->archive) {
        fprintf(stderr, "unpack-submission: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    u->packed = packed;
    if (packed == 0)
        reject(u, NULL, "an empty file");
    archive_read_support_filter_gzip(u->archive);
    archive_read_support_filter_bzip2(u->archive);
    archive_read_support_filter_xz(u->archive);
    archive_read_support_filter_zstd(u->archive);
    archive_read_support_format_tar(u->archive);
    archive_read_support_format_gnutar(u->archive);
    archive_read_support_format_zip(u->archive);
    if (archive_read_open_fd(u->archive, fd, BUFFER_BYTES))
        reject(u, NULL, "no zip or tar file");
}

int main(int argc, char **argv)
{
    static struct unpacking u;
    if (argc < 7 || (argc - 4) % 3) {
        fputs("usage: unpack-submission ARCHIVE FOLDER LARGEST_BYTES (ID FOLDER FILE)...\n",
              stderr);
        return 2;
    }
    setlocale(LC_CTYPE, "C.UTF-8");
    u.folder = argv[2];
    u.largest_bytes = strtoul(argv[3], NULL, 10);
    for (int i = 4; i < argc && u.milestones < CL_MAX_MILESTONES; i += 3) {
        struct cl_wanted *wanted = &u.wanted[u.milestones++];
        snprintf(wanted->id, sizeof wanted->id, "%s", argv[i]);
        snprintf(wanted->folder, sizeof wanted->folder, "%s", argv[i + 1]);
        snprintf(wanted->file, sizeof wanted->file, "%s", argv[i + 2]);
    }
    open_archive(&u, argv[1]);
    unpack(&u);
    for (size_t i = 0; i < u.milestones; i++)
        if (u.found[i].twice)
            reject(&u, u.found[i].path, "a milestone's file twice");
    for (size_t i = 0; i < u.milestones; i++) {
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%zu", u.found[i].large);
        if (u.found[i].match)
            say(u.found[i].large ? "large" : "file", u.wanted[i].id, u.found[i].path,
                u.found[i].large ? bytes : "");
    }
    return fflush(stdout) ? 2 : 0;
}
