#include "nn/idx.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    UNSIGNED_BYTE = 0x08,
    BUFFER_BYTES = 1 << 17, /* zlib's default of 8 KiB is slower */
    DEFLATE_RATIO = 1032    /* the largest expansion of deflate (zlib.net/zlib_tech.html) */
};

struct source {
    const char *path;
    gzFile gz;
    size_t file_bytes;
    struct st_error *err;
};

static enum st_code reject(const struct source *from, enum st_code code, const char *what)
{
    st_fail(from->err, code, "%s", what);
    st_detail(from->err, ST_WHERE, "%s", from->path);
    return code;
}

static enum st_code reject_errno(const struct source *from, int errnum)
{
    enum st_code code = st_fail_errno(from->err, errnum, "cannot read file");
    st_detail(from->err, ST_WHERE, "%s", from->path);
    return code;
}

static enum st_code source_open(struct source *from)
{
    /* Without O_NONBLOCK, opening a named pipe would wait for ever for a writer. */
    int fd = open(from->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return reject_errno(from, errno);
    struct stat info;
    enum st_code code = ST_OK;
    if (fstat(fd, &info))
        code = reject_errno(from, errno);
    else if (!S_ISREG(info.st_mode))
        code = reject(from, ST_BAD_FORMAT, "not a regular file");
    else if (!(from->gz = gzdopen(fd, "rb")))
        code = reject(from, ST_NO_MEMORY, "not enough memory for zlib's state");
    if (code) {
        close(fd);
        return code;
    }
    from->file_bytes = (size_t)info.st_size;
    gzbuffer(from->gz, BUFFER_BYTES);
    return ST_OK;
}

/* Reports zlib's error after a failed read in our own words. */
static enum st_code reject_read(const struct source *from)
{
    int status;
    int errnum = errno;
    const char *text = gzerror(from->gz, &status);
    if (status == Z_ERRNO)
        return reject_errno(from, errnum);
    if (status == Z_MEM_ERROR)
        return reject(from, ST_NO_MEMORY, "not enough memory for zlib's state");
    reject(from, ST_BAD_FORMAT, "gzip stream is damaged");
    st_detail(from->err, ST_GOT, "%s", text);
    st_detail(from->err, ST_HINT, "copy or install the file again");
    return ST_BAD_FORMAT;
}

/* Reads up to n bytes, in portions that fit zlib's int. @return ST_OK even at the end of the file,
 * with fewer bytes in *got. */
static enum st_code source_read(const struct source *from, void *to, size_t n, size_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t left = n - *got;
        int part = gzread(from->gz, (char *)to + *got, left < INT_MAX ? (unsigned)left : INT_MAX);
        if (part < 0)
            return reject_read(from);
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return ST_OK;
}

/* Reports that the file ended too early: it was cut either before or after compression. */
static enum st_code reject_end(const struct source *from, const char *part, size_t expected,
                               size_t got)
{
    int status;
    gzerror(from->gz, &status);
    reject(from, ST_TRUNCATED,
           status == Z_BUF_ERROR ? "gzip stream is cut off" : "file is truncated");
    st_detail(from->err, ST_EXPECTED, "%zu bytes of %s", expected, part);
    st_detail(from->err, ST_GOT, "%zu (%zu missing)", got, expected - got);
    st_detail(from->err, ST_HINT, "copy or install the file again");
    return ST_TRUNCATED;
}

static enum st_code read_part(const struct source *from, const char *part, void *to, size_t n)
{
    size_t got;
    enum st_code code = source_read(from, to, n, &got);
    if (!code && got < n)
        code = reject_end(from, part, n, got);
    return code;
}

static enum st_code read_header(const struct source *from, struct nn_idx *idx, int dims)
{
    unsigned char head[4], sizes[4 * NN_IDX_MAX_DIMS];
    enum st_code code = read_part(from, "header", head, sizeof head);
    if (code)
        return code;
    if (head[0] || head[1]) {
        reject(from, ST_BAD_FORMAT, "wrong magic number, not an idx file");
        st_detail(from->err, ST_EXPECTED, "00 00 %02x %02x", UNSIGNED_BYTE, (unsigned)dims);
        st_detail(from->err, ST_GOT, "%02x %02x %02x %02x", head[0], head[1], head[2], head[3]);
        return ST_BAD_FORMAT;
    }
    if (head[2] != UNSIGNED_BYTE) {
        reject(from, ST_BAD_FORMAT, "wrong element type");
        st_detail(from->err, ST_EXPECTED, "0x%02x (unsigned bytes)", UNSIGNED_BYTE);
        st_detail(from->err, ST_GOT, "0x%02x", head[2]);
        return ST_BAD_FORMAT;
    }
    if (head[3] != dims) {
        reject(from, ST_BAD_FORMAT, "wrong number of dimensions");
        st_detail(from->err, ST_EXPECTED, "%d", dims);
        st_detail(from->err, ST_GOT, "%d", head[3]);
        st_detail(from->err, ST_HINT, "images have 3 dimensions, labels 1: are two files swapped?");
        return ST_BAD_FORMAT;
    }
    code = read_part(from, "sizes", sizes, 4 * (size_t)dims);
    if (code)
        return code;
    idx->item_bytes = 1;
    for (int i = 0; i < dims; i++) {
        const unsigned char *s = sizes + 4 * i;
        size_t size = (size_t)s[0] << 24 | (size_t)s[1] << 16 | (size_t)s[2] << 8 | s[3];
        size_t most = i == 0 ? NN_IDX_MAX_ITEMS : NN_IDX_MAX_SIDE;
        if (size < 1 || size > most) {
            reject(from, ST_BAD_FORMAT,
                   i == 0 ? "number of items is out of range" : "size of an item is out of range");
            st_detail(from->err, ST_EXPECTED, "1 to %zu", most);
            st_detail(from->err, ST_GOT, "%zu", size);
            return ST_BAD_FORMAT;
        }
        if (i == 0) {
            idx->items_in_file = size;
        } else {
            idx->size[i - 1] = size;
            idx->item_bytes *= size;
        }
    }
    return ST_OK;
}

/* After all items the file must end. Trying to read more also makes zlib verify the checksum after
 * the compressed data. */
static enum st_code check_end(const struct source *from, size_t bytes)
{
    unsigned char extra;
    size_t got;
    int status;
    enum st_code code = source_read(from, &extra, 1, &got);
    if (code)
        return code;
    if (got) {
        reject(from, ST_BAD_FORMAT, "bytes after the last item");
        st_detail(from->err, ST_EXPECTED, "%zu bytes of data", bytes);
        st_detail(from->err, ST_GOT, "more");
        return ST_BAD_FORMAT;
    }
    gzerror(from->gz, &status);
    if (status == Z_BUF_ERROR) {
        reject(from, ST_TRUNCATED, "gzip stream is cut off inside its checksum");
        st_detail(from->err, ST_HINT, "copy or install the file again");
        return ST_TRUNCATED;
    }
    return ST_OK;
}

enum st_code nn_idx_read(struct nn_idx *idx, const char *path, int dims, size_t limit,
                         struct st_error *err)
{
    assert(dims >= 1 && dims <= NN_IDX_MAX_DIMS);
    memset(idx, 0, sizeof *idx);
    struct source from = {.path = path, .err = err};
    enum st_code code = source_open(&from);
    if (code)
        return code;
    code = read_header(&from, idx, dims);
    if (code)
        goto cleanup;
    idx->items = limit && limit < idx->items_in_file ? limit : idx->items_in_file;
    size_t bytes = idx->items * idx->item_bytes;
    /* A header may claim terabytes; a file cannot contain more than it can expand to. */
    size_t most = gzdirect(from.gz) ? from.file_bytes : from.file_bytes * DEFLATE_RATIO;
    size_t room = bytes < most ? bytes : most, got;
    idx->data = malloc(room + 1);
    if (!idx->data) {
        code = reject(&from, ST_NO_MEMORY, "not enough memory for the data set");
        goto cleanup;
    }
    code = source_read(&from, idx->data, room, &got);
    if (!code && got < bytes)
        code = reject_end(&from, "data", bytes, got);
    if (!code && idx->items == idx->items_in_file)
        code = check_end(&from, bytes);
cleanup:
    gzclose(from.gz);
    if (code)
        nn_idx_free(idx);
    return code;
}

void nn_idx_free(struct nn_idx *idx)
{
    free(idx->data);
    memset(idx, 0, sizeof *idx);
}
