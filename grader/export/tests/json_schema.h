/* A validator of JSON Schema, as much of it as formats/ needs (json-schema.org, draft 2020-12):
 * type, enum, const, required, properties, additionalProperties, items, minItems, minimum,
 * maximum, pattern, anyOf. An unknown keyword is an error, so that a schema cannot require a property that nothing checks. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether the value fits the schema; if not, @p why names the place. */
bool schema_accepts(const cJSON *schema, const cJSON *value, char *why, size_t room);

/* A YAML document (core schema, no anchors) as JSON, or NULL. */
cJSON *yaml_as_json(const char *text);
