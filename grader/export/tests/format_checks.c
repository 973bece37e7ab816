#include "format_checks.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "json_schema.h"

#include <stdlib.h>
#include <string.h>

const char *format_path(const char *name)
{
    static char path[PATH_MAX];
    path_format(path, sizeof path, "%s/grader/export/tests/formats/%s", checkout_root(NULL), name);
    return path;
}

static bool schema_says(const char *format, const cJSON *value, char *why, size_t room)
{
    char name[64];
    snprintf(name, sizeof name, "%s.schema.json", format);
    char *text = text_of_file(format_path(name));
    cJSON *schema = cJSON_Parse(text);
    cr_assert(schema, "%s is not JSON", name);
    bool good = value && schema_accepts(schema, value, why, room);
    cJSON_Delete(schema);
    free(text);
    return good;
}

bool have_xmllint(void)
{
    return system("command -v xmllint >/dev/null 2>&1") == 0;
}

static bool xml_is_valid(const char *text)
{
    char command[3 * PATH_MAX];
    FILE *f = fopen(temp_path("junit.xml"), "w");
    fputs(text, f);
    fclose(f);
    snprintf(command, sizeof command, "xmllint --nonet --noout --schema '%s' '%s' >/dev/null 2>&1",
             format_path("junit.xsd"), temp_path("junit.xml"));
    return system(command) == 0;
}

/* Whether the text is safe to print in a terminal. */
static bool is_harmless(const char *text)
{
    char *plain = strdup(text), *shown = malloc(4 * strlen(text) + 1), *to = plain;
    for (const char *from = text; *from; from++)
        if (strncmp(from, "\r\n", 2) != 0)
            *to++ = *from;
    *to = '\0';
    const bool same = strcmp(text_printable(shown, 4 * strlen(text) + 1, plain), plain) == 0;
    free(plain);
    free(shown);
    return same;
}

/* RFC 4180: rows end with CR LF and have the same length; quotes are only around a field, and
 * doubled inside. In addition, no field may be a formula. */
static bool csv_is_valid(const char *c)
{
    size_t columns = 0;
    for (size_t row = 0; *c; row++) {
        size_t fields = 1;
        for (bool end = false; !end;) {
            bool quoted = *c == '"';
            c += quoted;
            if (*c && strchr("=+-@", *c))
                return false;
            for (; *c && (quoted || !strchr(",\r\n", *c)); c++) {
                if (*c != '"')
                    continue;
                if (!quoted)
                    return false;
                if (c[1] != '"')
                    break;
                c++;
            }
            if (quoted && *c++ != '"')
                return false;
            end = *c != ',';
            fields += !end;
            c += !end;
        }
        if (strncmp(c, "\r\n", 2) != 0 || (row && fields != columns))
            return false;
        columns = fields;
        c += 2;
    }
    return true;
}

bool is_valid(const char *format, const char *text, char *why, size_t room)
{
    snprintf(why, room, "not valid");
    if (strcmp(format, "junit") == 0)
        return xml_is_valid(text);
    if (strcmp(format, "csv") == 0)
        return csv_is_valid(text) && is_harmless(text);
    cJSON *value = strcmp(format, "workflow") == 0 ? yaml_as_json(text) : cJSON_Parse(text);
    bool good = schema_says(format, value, why, room);
    cJSON_Delete(value);
    return good;
}
