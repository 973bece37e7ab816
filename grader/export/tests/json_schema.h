/* A validator for the part of JSON Schema that formats/ needs (json-schema.org, draft 2020-12):
 * type, enum, const, required, properties, additionalProperties, items, minItems, minimum, maximum,
 * pattern, anyOf. An unknown keyword is an error, so that a schema cannot require a property that
 * nothing checks. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether a value fits the schema; if not, @p why names the position. */
bool schema_accepts(const cJSON *schema, const cJSON *value, char *why, size_t room);

/* Converts a YAML document (core schema, no anchors) to JSON; NULL after an error. */
cJSON *yaml_as_json(const char *text);
