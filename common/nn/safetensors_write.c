/* Writes safetensors files. The header is padded with spaces so that the data, which is written
 * back to back, begins at a multiple of 64 bytes; order and padding are fixed, so that the same
 * tensors always make the same file. */
#include "nn/safetensors.h"

#include "base/files.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, ALIGNMENT = 64 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are stored as they are");

/* cJSON's Add functions accept a NULL item and report it, so one chain of && finds every failed
 * allocation. */
static bool add_tensor(cJSON *root, const struct nn_tensor *t, size_t begin, size_t end)
{
    cJSON *entry = cJSON_AddObjectToObject(root, t->name);
    cJSON *dtype = cJSON_AddStringToObject(entry, "dtype", "F32");
    cJSON *shape = cJSON_AddArrayToObject(entry, "shape");
    cJSON *offsets = cJSON_AddArrayToObject(entry, "data_offsets");
    bool ok = dtype && shape && offsets &&
              cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)begin)) &&
              cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)end));
    size_t elems = 1;
    for (int i = 0; i < t->dims; i++) {
        elems *= t->shape[i];
        ok = ok && cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t->shape[i]));
    }
    assert(elems == t->elems);
    return ok;
}

/* @return the JSON text, malloc'd; NULL: out of memory. */
static char *make_header(const struct nn_tensor *tensor, size_t tensors,
                         const struct nn_metadata *metadata, size_t metadata_pairs)
{
    cJSON *root = cJSON_CreateObject();
    bool ok = root;
    if (metadata_pairs) {
        cJSON *object = cJSON_AddObjectToObject(root, "__metadata__");
        for (size_t i = 0; i < metadata_pairs; i++) {
            assert(!cJSON_GetObjectItemCaseSensitive(object, metadata[i].key));
            ok = ok && cJSON_AddStringToObject(object, metadata[i].key, metadata[i].value);
        }
    }
    size_t begin = 0;
    for (size_t i = 0; i < tensors && ok; i++) {
        const struct nn_tensor *t = &tensor[i];
        assert(t->name[0] && strcmp(t->name, "__metadata__") != 0);
        assert(t->dims >= 0 && t->dims <= NN_MAX_DIMS);
        assert(!cJSON_GetObjectItemCaseSensitive(root, t->name));
        size_t end = begin + t->elems * sizeof(float);
        ok = add_tensor(root, t, begin, end);
        begin = end;
    }
    char *text = ok ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    return text;
}

enum st_code nn_safetensors_write(const char *path, const struct nn_tensor *tensor, size_t tensors,
                                  const struct nn_metadata *metadata, size_t metadata_pairs,
                                  struct st_error *err)
{
    char *header = make_header(tensor, tensors, metadata, metadata_pairs);
    if (!header) {
        st_fail(err, ST_NO_MEMORY, "not enough memory for the header");
        st_detail(err, ST_WHERE, "%s", path);
        return ST_NO_MEMORY;
    }
    size_t used = strlen(header);
    uint64_t length = (LENGTH_BYTES + used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - LENGTH_BYTES;
    struct file_out out;
    enum st_code code;
    if (length > NN_MAX_HEADER_BYTES) {
        code = st_fail(err, ST_TOO_LARGE, "too many tensors for one file's header");
        st_detail(err, ST_WHERE, "%s", path);
        goto cleanup;
    }
    code = file_out_open(&out, path, err);
    if (code)
        goto cleanup;
    /* A failed write sets the stream's error flag, which the commit checks. */
    fwrite(&length, sizeof length, 1, out.f);
    fprintf(out.f, "%s%*s", header, (int)(length - used), "");
    for (size_t i = 0; i < tensors; i++)
        fwrite(tensor[i].data, sizeof(float), tensor[i].elems, out.f);
    code = file_out_commit(&out, err);
cleanup:
    cJSON_free(header);
    return code;
}
