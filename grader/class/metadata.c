/* Reads Gradescope's submission_metadata.yml, which Ruby writes: a mapping of folders to
 * ":submitters" (a list with ":name", ":email" and ":sid"), ":created_at", and keys that are
 * ignored here. The file may consist of several documents separated by "...", where libyaml
 * requires "---". It is read event by event, so that large files and aliases are harmless. */
#include "base/array_room.h"
#include "grader/class/download.h"
#include "grader/standing/deadlines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool failed;
};

/* Reads one line per call: a line that ends a document begins the next document. */
static int read_line(void *context, unsigned char *to, size_t room, size_t *bytes)
{
    FILE *in = context;
    if (!fgets((char *)to, (int)room, in)) {
        *bytes = 0;
        return !ferror(in);
    }
    *bytes = strlen((char *)to);
    if (strcmp((char *)to, "...\n") == 0 || strcmp((char *)to, "...\r\n") == 0)
        memcpy(to, "---", 3);
    return 1;
}

static yaml_event_type_t next(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (r->failed || !yaml_parser_parse(&r->parser, &r->event)) {
        r->failed = true;
        memset(&r->event, 0, sizeof r->event);
        return YAML_NO_EVENT;
    }
    return r->event.type;
}

static bool is_end(const struct reader *r)
{
    return r->failed || r->event.type == YAML_MAPPING_END_EVENT ||
           r->event.type == YAML_SEQUENCE_END_EVENT || r->event.type == YAML_STREAM_END_EVENT;
}

/* Copies the current scalar, without Ruby's colon; "" for other events. */
static void take_text(const struct reader *r, char *to, size_t room)
{
    const char *text =
        r->event.type == YAML_SCALAR_EVENT ? (const char *)r->event.data.scalar.value : "";
    snprintf(to, room, "%s", text[0] == ':' ? text + 1 : text);
}

/* Skips the rest of the value that begins with the current event. */
static void skip(struct reader *r)
{
    int depth = 0;
    for (;;) {
        const yaml_event_type_t type = r->event.type;
        depth += type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
        depth -= type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT;
        if (depth <= 0 || r->failed)
            return;
        next(r);
    }
}

/* Reads a key of the open mapping, and the first event of the key's value. @return false at the
 * mapping's end. */
static bool next_key(struct reader *r, char *key, size_t room)
{
    next(r);
    if (is_end(r))
        return false;
    take_text(r, key, room);
    skip(r);
    next(r);
    return !r->failed;
}

static void take_person(struct reader *r, struct sd_person *person)
{
    char key[64];
    while (next_key(r, key, sizeof key)) {
        if (strcmp(key, "name") == 0)
            take_text(r, person->name, sizeof person->name);
        else if (strcmp(key, "email") == 0)
            take_text(r, person->email, sizeof person->email);
        else if (strcmp(key, "sid") == 0)
            take_text(r, person->sis_id, sizeof person->sis_id);
        skip(r);
    }
}

static void take_people(struct reader *r, struct cl_metadata_row *row)
{
    if (r->event.type != YAML_SEQUENCE_START_EVENT) {
        skip(r);
        return;
    }
    while (next(r), !is_end(r))
        if (r->event.type == YAML_MAPPING_START_EVENT && row->people < CL_MAX_PEOPLE)
            take_person(r, &row->person[row->people++]);
        else
            skip(r);
}

static void take_submission(struct reader *r, struct cl_metadata_row *row)
{
    char key[64], text[64];
    while (next_key(r, key, sizeof key)) {
        if (strcmp(key, "submitters") == 0) {
            take_people(r, row);
        } else {
            take_text(r, text, sizeof text);
            if (strcmp(key, "created_at") == 0 && !sd_time_read(text, NAN, &row->submitted))
                row->submitted = NAN;
            skip(r);
        }
    }
}

static bool take_document(struct reader *r, struct cl_metadata *to)
{
    char folder[sizeof to->row->folder];
    while (next_key(r, folder, sizeof folder)) {
        if (r->event.type != YAML_MAPPING_START_EVENT) {
            skip(r);
            continue;
        }
        if (!ARRAY_ROOM(to->row, to->n))
            return false;
        struct cl_metadata_row *row = &to->row[to->n++];
        *row = (struct cl_metadata_row){.submitted = NAN};
        snprintf(row->folder, sizeof row->folder, "%s", folder);
        take_submission(r, row);
    }
    return true;
}

static enum st_code take_all(struct reader *r, const char *path, struct cl_metadata *to,
                             struct st_error *err)
{
    while (next(r) != YAML_STREAM_END_EVENT && !r->failed)
        if (r->event.type == YAML_MAPPING_START_EVENT && !take_document(r, to))
            return st_fail(err, ST_NO_MEMORY, "out of memory for Gradescope's metadata");
        else if (r->event.type == YAML_SEQUENCE_START_EVENT)
            skip(r);
    if (!r->failed && to->n)
        return ST_OK;
    st_fail(err, ST_BAD_FORMAT, "Gradescope's metadata cannot be read: %s",
            r->failed && r->parser.problem ? r->parser.problem
                                           : "the metadata lists no submission");
    st_detail(err, ST_WHERE, "%s:%zu", path, r->parser.problem_mark.line + 1);
    return st_detail(err, ST_HINT, "export the submissions again");
}

enum st_code cl_metadata_read(const char *path, struct cl_metadata *to, struct st_error *err)
{
    struct reader r = {.failed = false};
    *to = (struct cl_metadata){0};
    FILE *in = fopen(path, "re");
    if (!in || !yaml_parser_initialize(&r.parser)) {
        st_fail_errno(err, errno, "cannot read Gradescope's metadata");
        st_detail(err, ST_WHERE, "%s", path);
        if (in)
            fclose(in);
        return err->code;
    }
    yaml_parser_set_input(&r.parser, read_line, in);
    enum st_code code = take_all(&r, path, to, err);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    fclose(in);
    return code;
}

void cl_metadata_free(struct cl_metadata *metadata)
{
    free(metadata->row);
    *metadata = (struct cl_metadata){0};
}
