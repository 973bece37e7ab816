/* Prints the schema as SQL and as a page, both from schema.def. */
#include "grader/gradebook/gradebook_parts.h"

#include <string.h>

char *gb_schema_sql(void)
{
    static const char sql[] =
#define GB_TABLE(table, doc)                       "CREATE TABLE " #table " ("
#define GB_COLUMN(table, name, type, further, doc) #name " " #type " " further ","
#define GB_END(table, constraints)                 constraints ") STRICT;\n"
#include "grader/gradebook/schema.def"
#undef GB_TABLE
#undef GB_COLUMN
#undef GB_END
        "CREATE INDEX attempt_of ON attempt (submission, milestone);\n";
    return strdup(sql);
}

static void print_column(FILE *out, const char *name, const char *type, const char *further,
                         const char *doc)
{
    char null[16] = "";
    if (!strstr(further, "NOT NULL") && strcmp(type, "INTEGER") != 0)
        snprintf(null, sizeof null, " or NULL");
    fprintf(out, "| `%s` | %s%s | ", name, type, null);
    for (const char *p = doc; *p; p++)
        fprintf(out, *p == '|' || *p == '\\' ? "\\%c" : "%c", *p);
    fprintf(out, " |\n");
}

void gb_schema_print(FILE *out)
{
#define GB_TABLE(table, doc)                                                                       \
    fprintf(out, "\n### %s\n\n%s.\n\n| column | type | contents |\n|---|---|---|\n", #table, doc);
#define GB_COLUMN(table, name, type, further, doc) print_column(out, #name, #type, further, doc);
#define GB_END(table, constraints)                 fprintf(out, "\n`%s`\n", constraints);
#include "grader/gradebook/schema.def"
#undef GB_TABLE
#undef GB_COLUMN
#undef GB_END
}
