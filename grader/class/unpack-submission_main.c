/* build/unpack-submission LARGEST_BYTES (ID FOLDER FILE)... <ARCHIVE: takes the milestones' files
 * out of a zip or tar file, and nothing else. Only grader class calls it, in the sandbox, because
 * what it reads is hostile: it has one file open to read, one to write, and makes none.
 *
 * It prints a table: what, milestone, path in the archive, text
 *
 *     file      m1   s001/m1-cpu-conv/conv.c   3127        behind the row so many bytes of contents
 *     large     m1   s001/m1-cpu-conv/conv.c   104857600   not taken: so many bytes
 *     twice     m1   s001/m1-cpu-conv/conv.c   3127        not taken: it is there more than once
 *     rejected  -    ../conv.c   a path with ..            the archive as a whole; no other row
 *
 * What is refused is refused wherever it lies in the archive, also in parts that are not wanted: an
 * archive with such things was made to attack. */
#include "base/tsv.h"
#include "grader/class/wanted.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
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

struct found {
    enum cl_match match;
    char path[1024];
    char *contents; /* [bytes], if not larger than is taken */
    size_t bytes;
    bool twice;
};

struct unpacking {
    size_t largest_bytes; /* of a file that is taken */
    size_t milestones;
    struct cl_wanted wanted[CL_MAX_MILESTONES];
    struct found found[CL_MAX_MILESTONES];
    struct archive *archive;
    long long packed, unpacked;
};

static void say(const char *what, const char *milestone, const char *path, const char *text)
{
    const char *fields[] = {what, milestone, path, text};
    tsv_write_row(stdout, 4, fields);
}

/* Exit status 0: an archive that is refused is no failure of this program. */
static _Noreturn void reject(const char *path, const char *why)
{
    say("rejected", "-", path ? path : "", why);
    exit(fflush(stdout) ? 2 : 0);
}

/* What libarchive says, or else this. */
static const char *why_not(const struct unpacking *u, const char *otherwise)
{
    const char *said = archive_error_string(u->archive);
    return said ? said : otherwise;
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

/* Counts what was unpacked, entries that are not wanted too. */
static void count_bytes(struct unpacking *u, const char *path, long long bytes)
{
    u->unpacked += bytes;
    if (u->unpacked > MAX_BYTES)
        reject(path, "a bomb: more than 512 MiB unpacked");
    if (u->unpacked > FREE_BYTES && u->unpacked / u->packed > MAX_RATIO)
        reject(path, "a bomb: unpacks to more than 200 times its size");
}

/* Reads an entry to its end, and keeps its beginning if there is a place for it. @return its size.
 */
static size_t read_entry(struct unpacking *u, const char *path, char *keep)
{
    static char buffer[BUFFER_BYTES];
    size_t bytes = 0;
    for (;;) {
        la_ssize_t n = archive_read_data(u->archive, buffer, sizeof buffer);
        if (n < 0)
            reject(path, why_not(u, "a damaged entry"));
        if (n == 0)
            return bytes;
        count_bytes(u, path, n);
        if (keep && bytes + (size_t)n <= u->largest_bytes)
            memcpy(keep + bytes, buffer, (size_t)n);
        bytes += (size_t)n;
    }
}

static void take_entry(struct unpacking *u, const char *path)
{
    size_t which = 0;
    enum cl_match match = cl_wanted_match(u->wanted, u->milestones, path, &which);
    struct found *found = &u->found[which];
    if (!match || match < found->match) {
        read_entry(u, path, NULL);
        return;
    }
    found->twice = match == found->match;
    found->match = match;
    snprintf(found->path, sizeof found->path, "%s", path);
    if (!found->contents && !(found->contents = malloc(u->largest_bytes)))
        exit(2);
    found->bytes = read_entry(u, path, found->contents);
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
            reject(NULL, why_not(u, "a damaged archive"));
        const char *path = path_of(entry), *why = cl_path_refused(path);
        if (!why)
            why = kind_refused(entry);
        if (!why && entries == MAX_ENTRIES)
            why = "a bomb: more than 20000 entries";
        if (!why && archive_entry_is_encrypted(entry))
            why = "an encrypted entry";
        if (why)
            reject(path, why);
        if (archive_entry_filetype(entry) != AE_IFDIR)
            take_entry(u, path);
    }
}

static void open_archive(struct unpacking *u)
{
    u->packed = lseek(STDIN_FILENO, 0, SEEK_END);
    u->archive = archive_read_new();
    if (u->packed < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) != 0 || !u->archive) {
        fprintf(stderr, "unpack-submission: cannot read the archive: %s\n", strerror(errno));
        exit(2);
    }
    if (u->packed == 0)
        reject(NULL, "nothing in it: the file is empty");
    archive_read_support_filter_gzip(u->archive);
    archive_read_support_filter_bzip2(u->archive);
    archive_read_support_filter_xz(u->archive);
    archive_read_support_filter_zstd(u->archive);
    archive_read_support_format_tar(u->archive);
    archive_read_support_format_gnutar(u->archive);
    archive_read_support_format_zip(u->archive);
    if (archive_read_open_fd(u->archive, STDIN_FILENO, BUFFER_BYTES))
        reject(NULL, "no zip or tar file");
}

static void parse(struct unpacking *u, int argc, char **argv)
{
    if (argc < 5 || (argc - 2) % 3) {
        fputs("usage: unpack-submission LARGEST_BYTES (ID FOLDER FILE)... <ARCHIVE\n", stderr);
        exit(2);
    }
    u->largest_bytes = strtoul(argv[1], NULL, 10);
    for (int i = 2; i < argc && u->milestones < CL_MAX_MILESTONES; i += 3) {
        struct cl_wanted *wanted = &u->wanted[u->milestones++];
        snprintf(wanted->id, sizeof wanted->id, "%s", argv[i]);
        snprintf(wanted->folder, sizeof wanted->folder, "%s", argv[i + 1]);
        snprintf(wanted->file, sizeof wanted->file, "%s", argv[i + 2]);
    }
}

static void hand_out(const struct unpacking *u, size_t which)
{
    const struct found *found = &u->found[which];
    const char *what = found->twice ? "twice" : found->bytes > u->largest_bytes ? "large" : "file";
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%zu", found->bytes);
    say(what, u->wanted[which].id, found->path, bytes);
    if (strcmp(what, "file") == 0)
        fwrite(found->contents, 1, found->bytes, stdout);
}

int main(int argc, char **argv)
{
    static struct unpacking u;
    parse(&u, argc, argv);
    setlocale(LC_CTYPE, "C.UTF-8"); /* or names in zip files could not be read */
    open_archive(&u);
    unpack(&u);
    for (size_t i = 0; i < u.milestones; i++)
        if (u.found[i].match)
            hand_out(&u, i);
    return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
