/* The profile loader. libcyaml checks names and types against the schema below; this file checks
 * that the values are consistent. */
#include "vgpu/gpus/gpu_profile.h"

#include "base/files.h"
#include "base/yaml_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 20 };

#define TEXT(f)     CYAML_FIELD_STRING(#f, CYAML_FLAG_DEFAULT, struct vg_profile, f, 1)
#define YAML_int    CYAML_FIELD_INT
#define YAML_size_t CYAML_FIELD_UINT
#define YAML_double CYAML_FIELD_FLOAT

static const cyaml_schema_field_t fields[] = {
    TEXT(name),
    TEXT(product),
#define FIELD(type, f, least) YAML_##type(#f, CYAML_FLAG_DEFAULT, struct vg_profile, f),
#include "vgpu/api/profile.def"
#undef FIELD
    CYAML_FIELD_END,
};

static const char hint[] = "compare it with common/vgpu/gpus/h200.yaml";

static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vg_profile, fields),
};

/* @return the name of a field with an impossible value, or NULL. */
static const char *impossible(const struct vg_profile *p)
{
#define FIELD(type, f, least)                                                                      \
    if (least && !(p->f > 0))                                                                      \
        return #f;
#include "vgpu/api/profile.def"
#undef FIELD
    if (p->max_threads_per_block % 32 || p->max_threads_per_block > 1024)
        return "max_threads_per_block";
    if (p->shared_per_block_optin_bytes < p->shared_per_block_bytes)
        return "shared_per_block_optin_bytes";
    return NULL;
}

static int is_profile(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

int vg_profile_names(const char *folder, char *to, size_t room)
{
    struct dirent **found = NULL;
    const int n = scandir(folder, &found, is_profile, alphasort);
    size_t used = 0;
    to[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (used < room)
            used += (size_t)snprintf(to + used, room - used, "%s%.*s", used ? ", " : "",
                                     (int)strcspn(found[i]->d_name, "."), found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return n;
}

enum st_code vg_profile_read(struct vg_profile *to, const char *folder, const char *name,
                             struct st_error *err)
{
    char path[PATH_MAX];
    bool is_path = strchr(name, '/') != NULL;
    if (is_path)
        path_format(path, sizeof path, "%s", name);
    else
        path_format(path, sizeof path, "%s/%s.yaml", folder, name);
    if (!file_exists(path)) {
        char names[256];
        vg_profile_names(folder, names, sizeof names);
        st_fail(err, ST_NOT_FOUND, "no GPU profile is named '%s'", name);
        st_detail(err, ST_HINT, "use one of: %s; or the path of a .yaml file", names);
        return ST_NOT_FOUND;
    }
    struct vg_profile *read;
    char *text;
    size_t bytes;
    enum st_code code = file_read(path, MAX_BYTES, &text, &bytes, err);
    if (code)
        return code;
    code = yaml_file_load(text, bytes, path, "the GPU profile cannot be read", &schema,
                          (void **)&read, hint, err);
    free(text);
    if (code)
        return code;
    *to = *read;
    yaml_file_free(&schema, read);
    const char *wrong = impossible(to);
    if (!wrong)
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "the GPU profile has an impossible value of '%s'", wrong);
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_HINT, "%s", hint);
    return ST_BAD_FORMAT;
}

bool vg_profile_find(struct vg_profile *to, const char *folder, const char *product)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_profile, alphasort);
    bool found = false;
    for (int i = 0; i < n; i++) {
        *strrchr(entries[i]->d_name, '.') = '\0';
        found = found || (!vg_profile_read(to, folder, entries[i]->d_name, NULL) &&
                          strcmp(to->product, product) == 0);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return found;
}
