/* build/unpack-submission LARGEST_BYTES (ID FOLDER FILE)... <ARCHIVE: extracts only the milestones'
 * files and reports from a zip or tar file and from archives in it. The grader runs this program in
 * the sandbox, because its input is hostile. The program reads one open file, writes another, and
 * creates none.
 *
 * It prints a table: kind, milestone, path in the archive, text
 *
 *     file      m1   s001/m1-cpu-conv/conv.c   3127        3127 bytes of contents follow the row
 *     file      m1   s001.zip/report.pdf       90210       a report, in an archive in the archive
 *     large     m1   s001/m1-cpu-conv/conv.c   104857600   not taken: too many bytes
 *     twice     m1   s001/m1-cpu-conv/conv.c   3127        not taken: the archive has it more than once
 *     rejected  -    ../conv.c   a path with ..            the archive as a whole; no other row
 *
 * One refused entry, even in parts that are not wanted, causes the whole archive to be rejected:
 * such an archive is an attack. */
#include "base/files.h"
#include "base/tsv.h"
#include "grader/handin/handin.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 20000,
    MAX_RATIO = 200,       /* unpacked bytes per packed byte, ... */
    FREE_BYTES = 16 << 20, /* allowed after this many bytes */
    MAX_BYTES = 512 << 20, /* unpacked, all entries together */
    MAX_NESTED = 2,        /* depth of archives in archives */
    MAX_NESTED_BYTES = 64 << 20,
    BUFFER_BYTES = 1 << 16
};

struct found {
    int match;
    char path[HI_PATH_BYTES];
    char *contents; /* [bytes], unless they exceed the limit */
    size_t bytes;
    bool twice;
};

struct unpacking {
    size_t largest_bytes; /* maximum size of an accepted file */
    size_t milestones;
    struct hi_wanted wanted[HI_MAX_MILESTONES];
    struct found source[HI_MAX_MILESTONES], report[HI_MAX_MILESTONES];
    struct archive *archive; /* the open archive */
    long long packed, unpacked;
    int entries;
};

static void say(const char *what, const char *milestone, const char *path, const char *text)
{
    const char *fields[] = {what, milestone, path, text};
    tsv_write_row(stdout, 4, fields);
}

/* Exits with status 0, because rejecting an archive is not a failure of this program. */
static _Noreturn void reject(const char *path, const char *why)
{
    say("rejected", "-", path ? path : "", why);
    exit(fflush(stdout) ? 2 : 0);
}

/* libarchive's message, or @p otherwise if there is none. */
static const char *why_not(const struct unpacking *u, const char *otherwise)
{
    const char *said = archive_error_string(u->archive);
    return said ? said : otherwise;
}

/* Names the kind of an entry that is neither a file nor a folder; NULL for files and folders. */
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

/* Counts unpacked bytes, including those of unwanted entries. */
static void count_bytes(struct unpacking *u, const char *path, long long bytes)
{
    u->unpacked += bytes;
    if (u->unpacked > MAX_BYTES)
        reject(path, "a bomb: more than 512 MiB unpacked");
    if (u->unpacked > FREE_BYTES && u->unpacked / u->packed > MAX_RATIO)
        reject(path, "a bomb: unpacks to more than 200 times its size");
}

/* Reads an entry to its end, and keeps its beginning if @p keep is given.
 * @param keep  grows up to @p most bytes; NULL: nothing is kept
 * @return the entry's size */
static size_t read_entry(struct unpacking *u, const char *path, char **keep, size_t most)
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
        if (keep && bytes + (size_t)n <= most) {
            char *more = realloc(*keep, bytes + (size_t)n);
            if (!more)
                exit(2);
            *keep = more;
            memcpy(*keep + bytes, buffer, (size_t)n);
        }
        bytes += (size_t)n;
    }
}

static void unpack(struct unpacking *u, const char *prefix, int depth);
static void support_formats(struct archive *archive);

/* Reads an archive in the archive: its entries are treated as if they were in a folder with its
 * name. */
static void take_nested(struct unpacking *u, const char *path, int depth)
{
    struct archive *outer = u->archive;
    char *data = NULL;
    const size_t bytes = read_entry(u, path, &data, MAX_NESTED_BYTES);
    if (bytes > 0 && bytes <= MAX_NESTED_BYTES) {
        if (!(u->archive = archive_read_new()))
            exit(2);
        support_formats(u->archive);
        if (archive_read_open_memory(u->archive, data, bytes))
            reject(path, "an archive in it that is not a zip or tar file");
        unpack(u, path, depth + 1);
        archive_read_free(u->archive);
        u->archive = outer;
    }
    free(data);
}

static void take_entry(struct unpacking *u, const char *path, int depth)
{
    size_t which = 0;
    if (depth < MAX_NESTED && hi_archive_stem(path)) {
        take_nested(u, path, depth);
        return;
    }
    int match = (int)hi_match_path(u->wanted, u->milestones, path, &which);
    struct found *found = &u->source[which];
    size_t most = u->largest_bytes;
    if (!match && (match = hi_match_report(u->wanted, u->milestones, path, &which))) {
        found = &u->report[which];
        most = HI_MAX_REPORT_BYTES;
    }
    const bool report = most != u->largest_bytes, twice = match && match == found->match;
    if (!match || match < found->match || strlen(path) >= sizeof found->path ||
        (report && twice && strcmp(path, found->path) > 0)) { /* keeps the first report by name */
        read_entry(u, path, NULL, 0);
        return;
    }
    found->twice = twice && !report;
    found->match = match;
    snprintf(found->path, sizeof found->path, "%s", path);
    found->bytes = read_entry(u, path, &found->contents, most);
}

static const char *path_of(struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    return path ? path : archive_entry_pathname_utf8(entry);
}

static void unpack(struct unpacking *u, const char *prefix, int depth)
{
    struct archive_entry *entry;
    int read;
    for (; (read = archive_read_next_header(u->archive, &entry)) != ARCHIVE_EOF; u->entries++) {
        if (read == ARCHIVE_FATAL || read == ARCHIVE_FAILED)
            reject(prefix[0] ? prefix : NULL, why_not(u, "a damaged archive"));
        char full[PATH_MAX];
        const char *path = path_of(entry), *why = hi_path_refused(path);
        if (!why)
            why = kind_refused(entry);
        if (!why && u->entries >= MAX_ENTRIES)
            why = "a bomb: more than 20000 entries";
        if (!why && archive_entry_is_encrypted(entry))
            why = "an encrypted entry";
        if (!why && prefix[0] && !path_format(full, sizeof full, "%s/%s", prefix, path))
            why = "a path that is too long";
        if (why)
            reject(path, why);
        if (archive_entry_filetype(entry) != AE_IFDIR)
            take_entry(u, prefix[0] ? full : path, depth);
    }
}

static void support_formats(struct archive *archive)
{
    archive_read_support_filter_gzip(archive);
    archive_read_support_filter_bzip2(archive);
    archive_read_support_filter_xz(archive);
    archive_read_support_filter_zstd(archive);
    archive_read_support_format_tar(archive);
    archive_read_support_format_gnutar(archive);
    archive_read_support_format_zip(archive);
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
        reject(NULL, "the file is empty");
    support_formats(u->archive);
    if (archive_read_open_fd(u->archive, STDIN_FILENO, BUFFER_BYTES))
        reject(NULL, "not a zip or tar file");
}

static void parse(struct unpacking *u, int argc, char **argv)
{
    if (argc < 5 || (argc - 2) % 3) {
        fputs("usage: unpack-submission LARGEST_BYTES (ID FOLDER FILE)... <ARCHIVE\n", stderr);
        exit(2);
    }
    u->largest_bytes = strtoul(argv[1], NULL, 10);
    for (int i = 2; i < argc && u->milestones < HI_MAX_MILESTONES; i += 3) {
        struct hi_wanted *wanted = &u->wanted[u->milestones++];
        snprintf(wanted->id, sizeof wanted->id, "%s", argv[i]);
        snprintf(wanted->folder, sizeof wanted->folder, "%s", argv[i + 1]);
        snprintf(wanted->file, sizeof wanted->file, "%s", argv[i + 2]);
    }
}

static void hand_out(const struct unpacking *u, size_t which, const struct found *found,
                     size_t most)
{
    const char *what = found->twice ? "twice" : found->bytes > most ? "large" : "file";
    char bytes[32];
    if (!found->match)
        return;
    snprintf(bytes, sizeof bytes, "%zu", found->bytes);
    say(what, u->wanted[which].id, found->path, bytes);
    if (strcmp(what, "file") == 0)
        fwrite(found->contents, 1, found->bytes, stdout);
}

int main(int argc, char **argv)
{
    static struct unpacking u;
    parse(&u, argc, argv);
    setlocale(LC_CTYPE, "C.UTF-8"); /* otherwise names in zip files could not be converted */
    open_archive(&u);
    unpack(&u, "", 0);
    for (size_t i = 0; i < u.milestones; i++) {
        hand_out(&u, i, &u.source[i], u.largest_bytes);
        hand_out(&u, i, &u.report[i], HI_MAX_REPORT_BYTES);
    }
    return fflush(stdout) || ferror(stdout) ? 2 : 0;
}
