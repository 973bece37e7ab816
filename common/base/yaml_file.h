/** @file
 * Reads YAML according to a libcyaml schema, and turns mistakes into our errors: file, line,
 * column, hint.
 */
#pragma once

#include "base/status.h"

#include <cyaml/cyaml.h>

/** Loads a text. @param what  the beginning of messages: "rubric". @param data  NULL on error
 * @return ST_BAD_FORMAT with the position and @p hint */
enum st_code yaml_file_load(const char *text, size_t bytes, const char *path, const char *what,
                            const cyaml_schema_value_t *schema, void **data, const char *hint,
                            struct st_error *err);

/** Frees loaded data. */
void yaml_file_free(const cyaml_schema_value_t *schema, void *data);
