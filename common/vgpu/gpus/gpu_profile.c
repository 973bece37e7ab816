/* The profile loader. libcyaml checks names and types against the schema below; this file checks
 * that the values are consistent. */
#include "vgpu/gpus/gpu_profile.h"

#include "base/files.h"

#include <cyaml/cyaml.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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

static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct vg_profile, fields),
};

/* libcyaml reports through a log: the error, then its position ("(line: 7, column: 3)"). */
struct report {
    char text[320];
    int line;
};

static void log_line(cyaml_log_t level, void *context, const char *format, va_list args)
{
    struct report *report = context;
    char text[320];
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    const char *at = strstr(text, "line: ");
    if (level >= CYAML_LOG_ERROR && at && report->line == 0)
        report->line = atoi(at + 6);
    const char *message = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
    if (level >= CYAML_LOG_ERROR && !report->text[0] && !strstr(text, "Backtrace"))
        snprintf(report->text, sizeof report->text, "%s", message);
}

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

/* Lists the names of the profiles, for the hint. */
static void names_list(const char *folder, char *to, size_t room)
{
    struct dirent **found = NULL;
    int n = scandir(folder, &found, NULL, alphasort);
    size_t used = 0;
    to[0] = '\0';
    for (int i = 0; i < n; i++) {
        size_t length = strlen(found[i]->d_name);
        if (length > 5 && strcmp(found[i]->d_name + length - 5, ".yaml") == 0 && used < room)
            used += (size_t)snprintf(to + used, room - used, "%s%.*s", used ? ", " : "",
                                     (int)(length - 5), found[i]->d_name);
        free(found[i]);
    }
    free(found);
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
        names_list(folder, names, sizeof names);
        st_fail(err, ST_NOT_FOUND, "no GPU profile is named '%s'", name);
        st_detail(err, ST_HINT, "use one of: %s; or the path of a .yaml file", names);
        return ST_NOT_FOUND;
    }
    struct report report = {0};
    cyaml_config_t config = {
        .log_fn = log_line, .log_ctx = &report, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};
    struct vg_profile *read = NULL;
    cyaml_err_t failed = cyaml_load_file(path, &config, &schema, (cyaml_data_t **)&read, NULL);
    if (failed != CYAML_OK) {
        st_fail(err, ST_BAD_FORMAT, "the GPU profile cannot be read: %s",
                report.text[0] ? report.text : cyaml_strerror(failed));
        if (report.line)
            st_detail(err, ST_WHERE, "%s:%d", path, report.line);
        else
            st_detail(err, ST_WHERE, "%s", path);
        st_detail(err, ST_HINT, "compare it with common/vgpu/gpus/h200.yaml");
        return ST_BAD_FORMAT;
    }
    *to = *read;
    cyaml_free(&config, &schema, read, 0);
    const char *wrong = impossible(to);
    if (!wrong)
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "the GPU profile has an impossible value of '%s'", wrong);
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_HINT, "compare it with common/vgpu/gpus/h200.yaml");
    return ST_BAD_FORMAT;
}

static int is_profile(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
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
