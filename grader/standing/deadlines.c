#include "grader/standing/deadlines.h"

#include "base/yaml_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const cyaml_strval_t policies[] = {
    {"none", SD_NONE}, {"per_day", SD_PER_DAY}, {"per_hour", SD_PER_HOUR}};
static const cyaml_strval_t slips_of[] = {{"member", SD_MEMBER}, {"team", SD_TEAM}};

static const cyaml_schema_field_t due_fields[] = {
    CYAML_FIELD_STRING_PTR("milestone", CYAML_FLAG_POINTER, struct sd_due, milestone, 1, 15),
    CYAML_FIELD_STRING_PTR("at", CYAML_FLAG_POINTER, struct sd_due, at, 1, 63), CYAML_FIELD_END};
static const cyaml_schema_value_t due_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct sd_due, due_fields)};

static const cyaml_schema_field_t extension_fields[] = {
    CYAML_FIELD_STRING_PTR("for", CYAML_FLAG_POINTER, struct sd_extension, who, 1, 255),
    CYAML_FIELD_STRING_PTR("milestone", CYAML_FLAG_POINTER, struct sd_extension, milestone, 1, 15),
    CYAML_FIELD_STRING_PTR("until", CYAML_FLAG_POINTER, struct sd_extension, until, 1, 63),
    CYAML_FIELD_STRING_PTR("reason", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct sd_extension,
                           reason, 0, 255),
    CYAML_FIELD_END};
static const cyaml_schema_value_t extension_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct sd_extension, extension_fields)};

#define NUMBER(name, member)                                                                       \
    CYAML_FIELD_UINT(name, CYAML_FLAG_OPTIONAL, struct sd_deadlines, member)
static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_SEQUENCE("due", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct sd_deadlines, due,
                         &due_schema, 0, 64),
    CYAML_FIELD_SEQUENCE("extensions", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         struct sd_deadlines, extension, &extension_schema, 0, 10000),
    NUMBER("slip_days", slip_days),
    CYAML_FIELD_ENUM("slip_days_of", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct sd_deadlines,
                     slip_of, slips_of, CYAML_ARRAY_LEN(slips_of)),
    CYAML_FIELD_ENUM("policy", CYAML_FLAG_STRICT | CYAML_FLAG_OPTIONAL, struct sd_deadlines, policy,
                     policies, CYAML_ARRAY_LEN(policies)),
    CYAML_FIELD_FLOAT("percent", CYAML_FLAG_OPTIONAL, struct sd_deadlines, percent),
    CYAML_FIELD_FLOAT_PTR("at_most", CYAML_FLAG_OPTIONAL, struct sd_deadlines, at_most),
    NUMBER("grace_minutes", grace_minutes),
    NUMBER("closed_after_days", closed_after_days),
    CYAML_FIELD_END};
#undef NUMBER
static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct sd_deadlines, fields)};

struct telling {
    sd_report *report;
    void *context;
    const char *path;
};

__attribute__((format(printf, 2, 3))) static void say(const struct telling *t, const char *text,
                                                      ...)
{
    char line[1024];
    va_list args;
    if (!t->report)
        return;
    const int used = snprintf(line, sizeof line, "%.400s: ", t->path);
    va_start(args, text);
    vsnprintf(line + used, sizeof line - (size_t)used, text, args);
    va_end(args);
    t->report(t->context, line);
}

/* @return the time, or NAN after a message. */
static double take_time(const struct telling *t, const char *what, const char *text)
{
    double seconds;
    if (sd_time_read(text, NAN, &seconds))
        return seconds;
    say(t,
        "%s: not a time with a zone, ignored: %s (expected, for example, 2026-10-31T23:59+01:00)",
        what, text);
    return NAN;
}

/* Limits a percentage, because a student cannot lose more than all points. */
static void cap(const struct telling *t, const char *key, double *percent)
{
    if (*percent >= 0 && *percent <= 100)
        return;
    say(t, "%s: %g is not a percentage of the points; %d is used (expected 0 to 100)", key,
        *percent, *percent > 100 ? 100 : 0);
    *percent = *percent > 100 ? 100 : 0;
}

enum st_code sd_deadlines_parse(struct sd_deadlines **deadlines, const char *text, size_t bytes,
                                const char *path, sd_report *report, void *context,
                                struct st_error *err)
{
    const struct telling t = {report, context, path};
    enum st_code code = yaml_file_load(
        text, bytes, path, "deadlines", &schema, (void **)deadlines,
        "keys: due, extensions, slip_days, slip_days_of, policy, percent, at_most, grace_minutes, closed_after_days; see docs/deadlines.md",
        err);
    if (code)
        return code;
    struct sd_deadlines *d = *deadlines;
    for (unsigned i = 0; i < d->due_count; i++)
        d->due[i].at_s = take_time(&t, d->due[i].milestone, d->due[i].at);
    for (unsigned i = 0; i < d->extension_count; i++)
        d->extension[i].until_s = take_time(&t, d->extension[i].who, d->extension[i].until);
    cap(&t, "percent", &d->percent);
    if (d->at_most)
        cap(&t, "at_most", d->at_most);
    return ST_OK;
}

void sd_deadlines_free(struct sd_deadlines *deadlines)
{
    yaml_file_free(&schema, deadlines);
}
