#include "base/yaml_file.h"

#include <stdio.h>
#include <string.h>

/* libcyaml reports mistakes and their positions only in its log: the first error line is the
 * reason, the first "(line: L, column: C)" after it the position. */
struct complaint {
    char reason[200];
    unsigned line, column;
};

/* libcyaml's name of a kind, in words for a person who writes the file. */
static const char *in_words(const char *kind)
{
    static const char *const words[][2] = {{"SEQUENCE", "a list (- item, or [item, item])"},
                                           {"SEQUENCE_START", "a list"},
                                           {"MAPPING", "keys with values (key: value)"},
                                           {"MAPPING_START", "keys with values (key: value)"},
                                           {"SCALAR", "a single value"},
                                           {"STRING", "a text"},
                                           {"INT", "a number"},
                                           {"UINT", "a number"},
                                           {"FLOAT", "a number"},
                                           {"BOOL", "true or false"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(kind, words[i][0]) == 0)
            return words[i][1];
    return kind;
}

static void on_log(cyaml_log_t level, void *context, const char *format, va_list args)
{
    struct complaint *complaint = context;
    if (level < CYAML_LOG_ERROR)
        return;
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    const char *place = strstr(text, "(line: ");
    if (place) {
        if (!complaint->line)
            sscanf(place, "(line: %u, column: %u)", &complaint->line, &complaint->column);
    } else if (!complaint->reason[0] && !strstr(text, "Backtrace")) {
        const char *reason = strncmp(text, "Load: ", 6) == 0 ? text + 6 : text;
        char expected[32], found[32];
        if (sscanf(reason, "Expecting %31[A-Z_], got event: %31[A-Z_]", expected, found) == 2)
            snprintf(complaint->reason, sizeof complaint->reason, "expected %s, found %s",
                     in_words(expected), in_words(found));
        else
            snprintf(complaint->reason, sizeof complaint->reason, "%s", reason);
    }
}

static const cyaml_config_t config = {
    .log_fn = on_log,
    .mem_fn = cyaml_mem,
    .log_level = CYAML_LOG_ERROR,
};

enum st_code yaml_file_load(const char *text, size_t bytes, const char *path, const char *what,
                            const cyaml_schema_value_t *schema, void **data, const char *hint,
                            struct st_error *err)
{
    struct complaint complaint = {0};
    cyaml_config_t logged = config;
    logged.log_ctx = &complaint;
    const cyaml_err_t status =
        cyaml_load_data((const uint8_t *)text, bytes, &logged, schema, (cyaml_data_t **)data, NULL);
    if (status == CYAML_OK)
        return ST_OK;
    *data = NULL;
    st_fail(err, ST_BAD_FORMAT, "%s: %s", what,
            complaint.reason[0] ? complaint.reason : cyaml_strerror(status));
    if (complaint.line)
        st_detail(err, ST_WHERE, "%s:%u:%u", path, complaint.line, complaint.column);
    else
        st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_HINT, "%s", hint);
    return ST_BAD_FORMAT;
}

void yaml_file_free(const cyaml_schema_value_t *schema, void *data)
{
    cyaml_free(&config, schema, data, 0);
}
