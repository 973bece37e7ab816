/* Validators of the formats that grades are exported in. Documents in JSON and YAML are compared
 * with the schemas in formats/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The path of a file in formats/; valid until the next call. */
const char *format_path(const char *name);

/* Whether JUnit documents can be validated. */
bool have_xmllint(void);

/* Whether a text is a document of the format; if not, @p why names the reason. */
bool is_valid(const char *format, const char *text, char *why, size_t room);
