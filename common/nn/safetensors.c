/* Reading safetensors files.
 *
 *     0        8                 8 + n                                size of the file
 *     | n, u64 | JSON, n bytes   | tensor data, back to back          |
 *
 * The header is checked before it is used:
 *   1. split    n fits in the file and is below NN_MAX_HEADER_BYTES
 *   2. JSON     an object, with nothing but white space after it
 *   3. entries  each tensor separately: name, dtype, shape, and a data length that fits the shape
 *   4. layout   names are unique; sorted by offset, the data of all tensors cover the rest of the
 *               file exactly, without overlaps or gaps
 *   5. copy     each tensor to memory aligned to 64 bytes
 */
#include "nn/safetensors.h"

#include "base/files.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define METADATA_KEY "__metadata__"

enum { LENGTH_BYTES = 8, ALIGNMENT = 64 };
static const size_t MAX_FILE_BYTES = (size_t)1 << 30;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are copied as they are stored");
_Static_assert(sizeof(float) == 4, "F32 is float");

/* A tensor whose data is still in the file. */
struct entry {
    struct nn_tensor tensor;
    size_t begin, end; /* its range in the data part */
};

struct parser {
    const char *name; /* of the file, for messages */
    const char *header;
    size_t header_bytes;
    const char *data;
    size_t data_bytes;
    struct entry *entry;
    size_t entries;
    struct nn_metadata *metadata;
    size_t metadata_pairs;
    struct st_error *err;
};

/* Starts a report about the file or, if a name is given, about one tensor in it. */
static enum st_code reject(const struct parser *p, enum st_code code, const char *tensor,
                           const char *what)
{
    st_fail(p->err, code, "%s", what);
    if (tensor)
        st_detail(p->err, ST_WHERE, "%s, tensor '%.100s'", p->name, tensor);
    else
        st_detail(p->err, ST_WHERE, "%s", p->name);
    return code;
}

/* ---- 1. split -------------------------------------------------------------------------------- */

static enum st_code split(struct parser *p, const char *bytes, size_t size)
{
    if (size < LENGTH_BYTES) {
        reject(p, ST_TRUNCATED, NULL, "file is too short for the length of its header");
        st_detail(p->err, ST_EXPECTED, "at least %d bytes", LENGTH_BYTES);
        st_detail(p->err, ST_GOT, "%zu", size);
        return ST_TRUNCATED;
    }
    uint64_t n;
    memcpy(&n, bytes, sizeof n);
    if (n > NN_MAX_HEADER_BYTES) {
        reject(p, ST_BAD_FORMAT, NULL, "header is too long");
        st_detail(p->err, ST_EXPECTED, "at most %d bytes", NN_MAX_HEADER_BYTES);
        st_detail(p->err, ST_GOT, "%llu", (unsigned long long)n);
        st_detail(p->err, ST_HINT, "not a safetensors file, or damaged");
        return ST_BAD_FORMAT;
    }
    if (n > size - LENGTH_BYTES) {
        reject(p, ST_TRUNCATED, NULL, "file ends inside its header");
        st_detail(p->err, ST_EXPECTED, "%zu bytes of header", (size_t)n);
        st_detail(p->err, ST_GOT, "%zu", size - LENGTH_BYTES);
        return ST_TRUNCATED;
    }
    p->header = bytes + LENGTH_BYTES;
    p->header_bytes = (size_t)n;
    p->data = p->header + n;
    p->data_bytes = size - LENGTH_BYTES - (size_t)n;
    return ST_OK;
}

/* ---- 2. JSON --------------------------------------------------------------------------------- */

static enum st_code reject_json(const struct parser *p, const char *what, size_t at)
{
    st_fail(p->err, ST_BAD_FORMAT, "%s", what);
    st_detail(p->err, ST_WHERE, "%s, byte %zu", p->name, LENGTH_BYTES + at);
    return ST_BAD_FORMAT;
}

/* cJSON accepts control characters, and would cut a name at an escaped NUL, so that two names could
 * look equal. Headers may contain neither. */
static enum st_code check_characters(const struct parser *p)
{
    for (size_t i = 0; i < p->header_bytes; i++) {
        unsigned char c = (unsigned char)p->header[i];
        if (c < ' ' && c != '\t' && c != '\n' && c != '\r')
            return reject_json(p, "control character in the header", i);
        if (c != '\\')
            continue;
        if (p->header_bytes - i >= 6 && memcmp(p->header + i, "\\u0000", 6) == 0)
            return reject_json(p, "escaped NUL character in the header", i);
        i++; /* skip the escaped character: \\u0000 is a backslash and text */
    }
    return ST_OK;
}

static enum st_code parse_json(const struct parser *p, cJSON **root)
{
    enum st_code code = check_characters(p);
    if (code)
        return code;
    if (p->header_bytes == 0 || p->header[0] != '{')
        return reject_json(p, "header does not begin with '{'", 0);
    const char *end = p->header;
    *root = cJSON_ParseWithLengthOpts(p->header, p->header_bytes, &end, 0);
    size_t at = (size_t)(end - p->header);
    if (!*root)
        return reject_json(p, "header is not JSON", at);
    while (at < p->header_bytes && strchr(" \t\r\n", p->header[at]))
        at++;
    if (at < p->header_bytes)
        return reject_json(p, "text after the header's JSON object", at);
    return ST_OK;
}

/* ---- 3. entries ------------------------------------------------------------------------------ */

/* JSON numbers are float64 in cJSON: above 2^53, different integers become equal, so such numbers
 * are rejected. */
static bool whole_number(const cJSON *item, size_t *value)
{
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < 0x1p53))
        return false;
    *value = (size_t)item->valuedouble;
    return (double)*value == item->valuedouble;
}

/* Completes the report about a number that whole_number() refused. */
static enum st_code reject_number(const struct parser *p, const cJSON *item)
{
    st_detail(p->err, ST_EXPECTED, "a whole number from 0 to 2^53 - 1");
    if (cJSON_IsNumber(item))
        st_detail(p->err, ST_GOT, "%.17g", item->valuedouble);
    else
        st_detail(p->err, ST_GOT, "not a number");
    return ST_BAD_FORMAT;
}

/* A tensor's entry must have exactly these three keys, each once. */
static enum st_code entry_fields(const struct parser *p, const cJSON *item, const cJSON *field[3])
{
    static const char *const key[3] = {"dtype", "shape", "data_offsets"};
    if (!cJSON_IsObject(item))
        return reject(p, ST_BAD_FORMAT, item->string, "entry is not an object");
    for (const cJSON *child = item->child; child; child = child->next) {
        int i = 0;
        while (i < 3 && strcmp(child->string, key[i]) != 0)
            i++;
        if (i < 3 && !field[i]) {
            field[i] = child;
            continue;
        }
        reject(p, ST_BAD_FORMAT, item->string, i < 3 ? "duplicate key" : "unknown key");
        st_detail(p->err, ST_EXPECTED, "dtype, shape and data_offsets, once each");
        st_detail(p->err, ST_GOT, "'%.100s'", child->string);
        return ST_BAD_FORMAT;
    }
    for (int i = 0; i < 3; i++) {
        if (!field[i]) {
            reject(p, ST_BAD_FORMAT, item->string, "missing key");
            st_detail(p->err, ST_EXPECTED, "%s", key[i]);
            return ST_BAD_FORMAT;
        }
    }
    return ST_OK;
}

static enum st_code check_dtype(const struct parser *p, const char *name, const cJSON *dtype)
{
    if (cJSON_IsString(dtype) && strcmp(dtype->valuestring, "F32") == 0)
        return ST_OK;
    reject(p, ST_BAD_FORMAT, name, "wrong dtype");
    st_detail(p->err, ST_EXPECTED, "F32");
    st_detail(p->err, ST_GOT, "%.40s", cJSON_IsString(dtype) ? dtype->valuestring : "not a string");
    st_detail(p->err, ST_HINT, "store the model's weights as float32");
    return ST_BAD_FORMAT;
}

static enum st_code parse_shape(const struct parser *p, struct nn_tensor *t, const cJSON *shape)
{
    if (!cJSON_IsArray(shape))
        return reject(p, ST_BAD_FORMAT, t->name, "shape is not a list");
    t->elems = 1;
    for (const cJSON *item = shape->child; item; item = item->next) {
        if (t->dims == NN_MAX_DIMS) {
            reject(p, ST_BAD_FORMAT, t->name, "too many dimensions");
            st_detail(p->err, ST_EXPECTED, "at most %d", NN_MAX_DIMS);
            st_detail(p->err, ST_GOT, "%d", cJSON_GetArraySize(shape));
            return ST_BAD_FORMAT;
        }
        size_t *size = &t->shape[t->dims++];
        if (!whole_number(item, size)) {
            reject(p, ST_BAD_FORMAT, t->name, "shape has an element that is not a size");
            return reject_number(p, item);
        }
        if (__builtin_mul_overflow(t->elems, *size, &t->elems) || t->elems > SIZE_MAX / 4)
            return reject(p, ST_BAD_FORMAT, t->name, "product of the shape's sizes is too large");
    }
    return ST_OK;
}

static enum st_code parse_offsets(const struct parser *p, struct entry *e, const cJSON *offsets)
{
    const char *name = e->tensor.name;
    const cJSON *first = cJSON_IsArray(offsets) ? offsets->child : NULL;
    if (!first || !first->next || first->next->next)
        return reject(p, ST_BAD_FORMAT, name, "data_offsets is not a list of two numbers");
    bool begin_ok = whole_number(first, &e->begin);
    if (!begin_ok || !whole_number(first->next, &e->end)) {
        reject(p, ST_BAD_FORMAT, name, "data_offsets has an element that is not an offset");
        return reject_number(p, begin_ok ? first->next : first);
    }
    if (e->begin > e->end) {
        reject(p, ST_BAD_FORMAT, name, "data_offsets end before they begin");
        st_detail(p->err, ST_EXPECTED, "begin <= end");
        st_detail(p->err, ST_GOT, "[%zu, %zu]", e->begin, e->end);
        return ST_BAD_FORMAT;
    }
    if (e->end - e->begin != e->tensor.elems * sizeof(float)) {
        reject(p, ST_BAD_FORMAT, name, "data_offsets do not fit the shape");
        st_detail(p->err, ST_EXPECTED, "%zu bytes for %zu floats", e->tensor.elems * sizeof(float),
                  e->tensor.elems);
        st_detail(p->err, ST_GOT, "%zu", e->end - e->begin);
        return ST_BAD_FORMAT;
    }
    if (e->end > p->data_bytes) {
        reject(p, ST_TRUNCATED, name, "the data extend past the end of the file");
        st_detail(p->err, ST_EXPECTED, "%zu bytes of data", e->end);
        st_detail(p->err, ST_GOT, "%zu", p->data_bytes);
        return ST_TRUNCATED;
    }
    return ST_OK;
}

/* Copies a text if it fits into @p room bytes including its NUL. */
static bool copy_text(char *to, size_t room, const char *from)
{
    size_t n = strlen(from);
    if (n < room)
        memcpy(to, from, n + 1);
    return n < room;
}

static enum st_code parse_entry(const struct parser *p, struct entry *e, const cJSON *item)
{
    if (item->string[0] == '\0')
        return reject(p, ST_BAD_FORMAT, "", "empty name");
    if (!copy_text(e->tensor.name, sizeof e->tensor.name, item->string)) {
        reject(p, ST_BAD_FORMAT, item->string, "name is too long");
        st_detail(p->err, ST_EXPECTED, "at most %zu bytes", sizeof e->tensor.name - 1);
        st_detail(p->err, ST_GOT, "%zu", strlen(item->string));
        return ST_BAD_FORMAT;
    }
    const cJSON *field[3] = {NULL};
    enum st_code code = entry_fields(p, item, field);
    if (!code)
        code = check_dtype(p, e->tensor.name, field[0]);
    if (!code)
        code = parse_shape(p, &e->tensor, field[1]);
    if (!code)
        code = parse_offsets(p, e, field[2]);
    return code;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct nn_metadata *)a)->key, ((const struct nn_metadata *)b)->key);
}

static enum st_code parse_metadata(struct parser *p, const cJSON *object)
{
    if (p->metadata)
        return reject(p, ST_BAD_FORMAT, NULL, "duplicate " METADATA_KEY);
    if (!cJSON_IsObject(object))
        return reject(p, ST_BAD_FORMAT, NULL, METADATA_KEY " is not an object");
    p->metadata = calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *p->metadata);
    if (!p->metadata)
        return reject(p, ST_NO_MEMORY, NULL, "not enough memory for the header");
    for (const cJSON *item = object->child; item; item = item->next) {
        struct nn_metadata *pair = &p->metadata[p->metadata_pairs++];
        const char *what = NULL;
        if (!cJSON_IsString(item))
            what = "value in " METADATA_KEY " is not a string";
        else if (!copy_text(pair->key, sizeof pair->key, item->string) ||
                 !copy_text(pair->value, sizeof pair->value, item->valuestring))
            what = "key or value in " METADATA_KEY " is too long";
        if (what) {
            reject(p, ST_BAD_FORMAT, NULL, what);
            st_detail(p->err, ST_EXPECTED, "keys and values of at most %zu and %zu bytes",
                      sizeof pair->key - 1, sizeof pair->value - 1);
            st_detail(p->err, ST_GOT, "key '%.100s'", item->string);
            return ST_BAD_FORMAT;
        }
    }
    /* Sorts, so that repeated keys are neighbours. */
    qsort(p->metadata, p->metadata_pairs, sizeof *p->metadata, by_key);
    for (size_t i = 1; i < p->metadata_pairs; i++) {
        if (by_key(&p->metadata[i - 1], &p->metadata[i]) == 0) {
            reject(p, ST_BAD_FORMAT, NULL, "duplicate key in " METADATA_KEY);
            st_detail(p->err, ST_GOT, "'%s' again", p->metadata[i].key);
            return ST_BAD_FORMAT;
        }
    }
    return ST_OK;
}

static enum st_code parse_entries(struct parser *p, const cJSON *root)
{
    p->entry = calloc((size_t)cJSON_GetArraySize(root) + 1, sizeof *p->entry);
    if (!p->entry)
        return reject(p, ST_NO_MEMORY, NULL, "not enough memory for the header");
    for (const cJSON *item = root->child; item; item = item->next) {
        enum st_code code = strcmp(item->string, METADATA_KEY) == 0
                                ? parse_metadata(p, item)
                                : parse_entry(p, &p->entry[p->entries++], item);
        if (code)
            return code;
    }
    return ST_OK;
}

/* ---- 4. layout ------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->tensor.name, ((const struct entry *)b)->tensor.name);
}

static int by_offset(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return by_name(a, b);
}

static enum st_code check_layout(const struct parser *p)
{
    qsort(p->entry, p->entries, sizeof *p->entry, by_name);
    for (size_t i = 1; i < p->entries; i++)
        if (by_name(&p->entry[i - 1], &p->entry[i]) == 0)
            return reject(p, ST_BAD_FORMAT, p->entry[i].tensor.name, "duplicate name");

    qsort(p->entry, p->entries, sizeof *p->entry, by_offset);
    size_t end = 0;
    for (size_t i = 0; i < p->entries; i++) {
        const struct entry *e = &p->entry[i];
        if (e->begin != end) {
            reject(p, ST_BAD_FORMAT, e->tensor.name,
                   e->begin < end ? "data overlap those of another tensor" : "gap before the data");
            st_detail(p->err, ST_EXPECTED, "data_offsets from %zu", end);
            st_detail(p->err, ST_GOT, "%zu", e->begin);
            return ST_BAD_FORMAT;
        }
        end = e->end;
    }
    if (end != p->data_bytes) {
        reject(p, ST_BAD_FORMAT, NULL, "bytes after the last tensor");
        st_detail(p->err, ST_EXPECTED, "%zu bytes of data", end);
        st_detail(p->err, ST_GOT, "%zu", p->data_bytes);
        return ST_BAD_FORMAT;
    }
    return ST_OK;
}

/* ---- 5. copy --------------------------------------------------------------------------------- */

static size_t round_up(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static enum st_code copy_tensors(struct parser *p, struct nn_safetensors *file)
{
    size_t total = ALIGNMENT; /* so that even an empty tensor at the end points to memory */
    for (size_t i = 0; i < p->entries; i++)
        total += round_up(p->entry[i].end - p->entry[i].begin);
    struct nn_tensor *tensor = calloc(p->entries + 1, sizeof *tensor);
    char *storage = aligned_alloc(ALIGNMENT, total);
    if (!tensor || !storage) {
        free(tensor);
        free(storage);
        return reject(p, ST_NO_MEMORY, NULL, "not enough memory for the tensors");
    }
    char *to = storage;
    for (size_t i = 0; i < p->entries; i++) {
        const struct entry *e = &p->entry[i];
        size_t bytes = e->end - e->begin;
        tensor[i] = e->tensor;
        tensor[i].data = (float *)to;
        memcpy(to, p->data + e->begin, bytes);
        to += round_up(bytes);
    }
    *file = (struct nn_safetensors){p->entries, tensor, p->metadata_pairs, p->metadata, storage};
    p->metadata = NULL;
    return ST_OK;
}

enum st_code nn_safetensors_parse(struct nn_safetensors *file, const char *name, const void *bytes,
                                  size_t size, struct st_error *err)
{
    struct parser p = {.name = name, .err = err};
    cJSON *root = NULL;
    memset(file, 0, sizeof *file);
    enum st_code code = split(&p, bytes, size);
    if (!code)
        code = parse_json(&p, &root);
    if (!code)
        code = parse_entries(&p, root);
    if (!code)
        code = check_layout(&p);
    if (!code)
        code = copy_tensors(&p, file);
    cJSON_Delete(root);
    free(p.entry);
    free(p.metadata);
    return code;
}

enum st_code nn_safetensors_read(struct nn_safetensors *file, const char *path,
                                 struct st_error *err)
{
    char *bytes;
    size_t size;
    memset(file, 0, sizeof *file);
    enum st_code code = file_read(path, MAX_FILE_BYTES, &bytes, &size, err);
    if (code)
        return code;
    code = nn_safetensors_parse(file, path, bytes, size, err);
    free(bytes);
    return code;
}

const struct nn_tensor *nn_safetensors_find(const struct nn_safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->tensors; i++)
        if (strcmp(file->tensor[i].name, name) == 0)
            return &file->tensor[i];
    return NULL;
}

const char *nn_safetensors_metadata(const struct nn_safetensors *file, const char *key)
{
    for (size_t i = 0; i < file->metadata_pairs; i++)
        if (strcmp(file->metadata[i].key, key) == 0)
            return file->metadata[i].value;
    return NULL;
}

void nn_safetensors_free(struct nn_safetensors *file)
{
    free(file->tensor);
    free(file->metadata);
    free(file->storage);
    memset(file, 0, sizeof *file);
}
