/* result.json: one table of fields, which both the writer and the reader use.
 *
 *     struct gr_result ──new_object()──▶ cJSON tree ──▶ text
 *     text ──▶ cJSON tree ──take_fields()──▶ struct gr_result
 */
#include "grader/record/result_json.h"

#include "base/files.h"
#include "base/numbers.h"
#include "base/utf8.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 16 << 20 };

/* ---- words ---------------------------------------------------------------------------------- */

static const char *const statuses[] = {
    [GR_PASS] = "pass", [GR_FAIL] = "fail", [GR_SKIP] = "skip", NULL};

static const char *const subjects[] = {[GR_SUBMISSION] = "submission",
                                       [GR_REFERENCE] = "reference",
                                       [GR_PLAIN_LOOPS] = "plain loops",
                                       [GR_BASELINE] = "baseline",
                                       NULL};

/* @return the word's index in a list that ends with NULL, or @p otherwise. */
static size_t word_find(const char *const *words, const char *word, size_t otherwise)
{
    for (size_t i = 0; words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return otherwise;
}

const char *gr_status_name(enum gr_status status)
{
    assert(status <= GR_SKIP);
    return statuses[status];
}

enum gr_status gr_status_named(const char *word)
{
    return (enum gr_status)word_find(statuses, word, GR_SKIP);
}

const char *gr_subject_name(enum gr_subject subject)
{
    assert(subject <= GR_BASELINE);
    return subjects[subject];
}

/* ---- the table ------------------------------------------------------------------------------ */

enum kind { TEXT, NUMBER, WHOLE, SEED, FLAG, WORD, OBJECT, OBJECTS, NUMBERS };

/* One field of an object, and where it is in the structure. */
struct field {
    const char *name;
    enum kind kind;
    enum gr_need need;            /* the lowest level that requires this field; 0: never required */
    size_t at, bytes;             /* for a list: offset and size of an entry */
    size_t count_at, count_bytes; /* for a list: offset and size of the count */
    size_t room;                  /* maximum number of entries */
    const struct field *fields;   /* the fields of an object */
    const char *const *words;     /* the possible words */
    const char *expected;         /* for the error message, if the kind alone is not specific
                                     enough */
};

#define FIELD(kind_, need_, type, name_, member)                                                   \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .need = (need_), .at = offsetof(type, member),           \
        .bytes = sizeof(((type *)0)->member)                                                       \
    }
#define LIST(kind_, need_, type, name_, list, count, fields_)                                      \
    {                                                                                              \
        .name = (name_), .kind = (kind_), .need = (need_), .at = offsetof(type, list),             \
        .bytes = sizeof(*((type *)0)->list), .count_at = offsetof(type, count),                    \
        .count_bytes = sizeof(((type *)0)->count),                                                 \
        .room = sizeof(((type *)0)->list) / sizeof(*((type *)0)->list), .fields = (fields_)        \
    }
/* Members of the same structure that form a separate object in the file. */
#define PART(name_, fields_)                                                                       \
    {                                                                                              \
        .name = (name_), .kind = OBJECT, .fields = (fields_)                                       \
    }

#define CHECK(kind, need, name) FIELD(kind, need, struct gr_check, #name, name)
static const struct field check_fields[] = {
    CHECK(TEXT, GR_NEED_GRADE, name),
    CHECK(TEXT, GR_NEED_GRADE, text),
    {.name = "status",
     .kind = WORD,
     .need = GR_NEED_GRADE,
     .at = offsetof(struct gr_check, status),
     .bytes = sizeof(enum gr_status),
     .words = statuses,
     .expected = "pass, fail or skip"},
    CHECK(NUMBER, GR_NEED_GRADE, points),
    CHECK(NUMBER, GR_NEED_GRADE, max_points),
    CHECK(FLAG, GR_NEED_GRADE, required),
    CHECK(TEXT, 0, pattern),
    CHECK(TEXT, GR_NEED_GRADE, message),
    CHECK(TEXT, GR_NEED_GRADE, hint),
    CHECK(TEXT, GR_NEED_GRADE, map),
    CHECK(TEXT, 0, graded),
    {0},
};

#define MANUAL(kind, name) FIELD(kind, 0, struct gr_manual, #name, name)
static const struct field manual_fields[] = {
    MANUAL(TEXT, name),
    MANUAL(NUMBER, max_points),
    MANUAL(TEXT, text),
    {0},
};

#define INFERENCE(kind, name) FIELD(kind, 0, struct gr_inference, #name, name)
static const struct field inference_fields[] = {
    INFERENCE(TEXT, model),
    INFERENCE(WHOLE, images),
    LIST(NUMBERS, 0, struct gr_inference, "op_times_s", op_time_s, convs, NULL),
    INFERENCE(NUMBER, correctness),
    INFERENCE(NUMBER, expected_correctness),
    INFERENCE(NUMBER, max_error),
    INFERENCE(FLAG, passed),
    INFERENCE(TEXT, graded),
    {0},
};

#define SHAPE(name) FIELD(WHOLE, 0, struct gr_timing, #name, shape.name)
static const struct field shape_fields[] = {
    SHAPE(B), SHAPE(M), SHAPE(C), SHAPE(H), SHAPE(W), SHAPE(K), {0},
};

#define TIMING(kind, name) FIELD(kind, 0, struct gr_timing, #name, name)
static const struct field timing_fields[] = {
    {.name = "subject",
     .kind = WORD,
     .at = offsetof(struct gr_timing, subject),
     .bytes = sizeof(enum gr_subject),
     .words = subjects},
    TIMING(TEXT, model),
    TIMING(WHOLE, layer),
    PART("shape", shape_fields),
    TIMING(NUMBER, gmac),
    TIMING(NUMBER, median_s),
    LIST(NUMBERS, 0, struct gr_timing, "op_times_s", op_time_s, repeats, NULL),
    {0},
};

#define EVIDENCE(kind, name) FIELD(kind, 0, struct gr_evidence, #name, name)
static const struct field evidence_fields[] = {
    EVIDENCE(TEXT, fact), EVIDENCE(FLAG, holds), EVIDENCE(NUMBER, found), EVIDENCE(TEXT, text), {0},
};

#define RESULT(kind, need, name, member) FIELD(kind, need, struct gr_result, name, member)
static const struct field speed_fields[] = {
    RESULT(WHOLE, 0, "images", speed.images),
    RESULT(NUMBER, 0, "op_time_s", speed.op_time_s),
    RESULT(NUMBER, 0, "to_reference", speed.to_reference),
    RESULT(NUMBER, 0, "to_m2", speed.to_baseline),
    RESULT(NUMBER, 0, "uncertainty", speed.uncertainty),
    RESULT(NUMBER, 0, "at_most", speed.at_most),
    {0},
};

static const struct field sandbox_fields[] = {
    RESULT(FLAG, 0, "on", sandboxed),
    RESULT(TEXT, 0, "reason", not_sandboxed),
    {0},
};

static const struct field unit_shape_fields[] = {
    RESULT(WHOLE, 0, "run", unit_shapes),
    RESULT(WHOLE, 0, "right", unit_shapes_right),
    {0},
};

static const struct field result_fields[] = {
    RESULT(TEXT, GR_NEED_GRADE, "milestone", milestone),
    RESULT(TEXT, GR_NEED_GRADE, "title", title),
    RESULT(TEXT, 0, "technique", technique),
    RESULT(TEXT, GR_NEED_GRADE, "device", device),
    RESULT(TEXT, 0, "profile", profile),
    RESULT(TEXT, 0, "subject", subject),
    RESULT(TEXT, 0, "source", source),
    RESULT(TEXT, 0, "source_hash", source_hash),
    RESULT(TEXT, 0, "model_hash", model_hash),
    RESULT(TEXT, GR_NEED_GRADE, "version", version),
    RESULT(TEXT, GR_NEED_GRADE, "date", date),
    RESULT(SEED, 0, "seed", seed),
    RESULT(TEXT, 0, "machine", machine),
    RESULT(TEXT, 0, "timed_on", timed_on),
    RESULT(NUMBER, 0, "timed_from", timed_from),
    RESULT(NUMBER, 0, "timed_until", timed_until),
    RESULT(NUMBER, 0, "sandbox_cpu_s", sandbox_cpu_s),
    RESULT(TEXT, 0, "compiler", compiler),
    RESULT(TEXT, 0, "command", command),
    PART("sandbox", sandbox_fields),
    RESULT(TEXT, 0, "course_lines", course_lines),
    RESULT(NUMBER, GR_NEED_GRADE, "score", score),
    RESULT(NUMBER, GR_NEED_GRADE, "max_score", max_score),
    RESULT(NUMBER, 0, "manual_max", manual_max),
    LIST(OBJECTS, GR_NEED_CHECKS, struct gr_result, "checks", check, checks, check_fields),
    LIST(OBJECTS, 0, struct gr_result, "manual", manual, manuals, manual_fields),
    LIST(OBJECTS, 0, struct gr_result, "inference", inference, inferences, inference_fields),
    LIST(OBJECTS, 0, struct gr_result, "timings", timing, timings, timing_fields),
    LIST(OBJECTS, 0, struct gr_result, "evidence", evidence, evidences, evidence_fields),
    PART("speed", speed_fields),
    PART("unit_shapes", unit_shape_fields),
    RESULT(NUMBER, 0, "max_error", max_error),
    {0},
};

/* Reads a size_t, an int or an enum. */
static size_t whole_get(const char *from, size_t bytes)
{
    size_t wide = 0;
    unsigned narrow = 0;
    if (bytes == sizeof wide)
        memcpy(&wide, from, bytes);
    else
        memcpy(&narrow, from, sizeof narrow);
    return wide + narrow;
}

static void whole_set(char *to, size_t bytes, size_t value)
{
    const unsigned narrow = (unsigned)value;
    if (bytes == sizeof value)
        memcpy(to, &value, bytes);
    else
        memcpy(to, &narrow, sizeof narrow);
}

/* ---- writing -------------------------------------------------------------------------------- */

static cJSON *new_text(const char *text)
{
    char *valid = utf8_repair(text);
    cJSON *item = cJSON_CreateString(valid ? valid : "");
    free(valid);
    return item;
}

/* cJSON would write only 15 digits if they are close enough; these digits give the same double when
 * read. */
static cJSON *new_number(double value)
{
    char digits[NUMBER_CHARS];
    return isfinite(value) ? cJSON_CreateRaw(number_exact(digits, value)) : cJSON_CreateNull();
}

/* Written as an integer, because a double has only 53 bits. */
static cJSON *new_seed(uint64_t seed)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, seed);
    return cJSON_CreateRaw(digits);
}

static cJSON *new_object(const struct field *fields, const char *from);

static cJSON *new_list(const struct field *field, const char *from)
{
    cJSON *list = cJSON_CreateArray();
    const size_t n = whole_get(from + field->count_at, field->count_bytes);
    for (size_t i = 0; i < n; i++) {
        const char *entry = from + field->at + i * field->bytes;
        cJSON_AddItemToArray(list, field->kind == NUMBERS ? new_number(*(const double *)entry)
                                                          : new_object(field->fields, entry));
    }
    return list;
}

static cJSON *new_item(const struct field *field, const char *from)
{
    const char *at = from + field->at;
    switch (field->kind) {
    case TEXT:
        return new_text(at);
    case NUMBER:
        return new_number(*(const double *)at);
    case WHOLE:
        return new_number((double)whole_get(at, field->bytes));
    case SEED:
        return new_seed(*(const uint64_t *)at);
    case FLAG:
        return cJSON_CreateBool(*(const bool *)at);
    case WORD:
        return new_text(field->words[whole_get(at, field->bytes)]);
    case OBJECT:
        return new_object(field->fields, from);
    default:
        return new_list(field, from);
    }
}

/* Makes an object; omits "speed" if nothing was timed. */
static cJSON *new_object(const struct field *fields, const char *from)
{
    cJSON *object = cJSON_CreateObject();
    for (const struct field *f = fields; f->name; f++)
        if (f->fields != speed_fields || ((const struct gr_result *)from)->speed.images)
            cJSON_AddItemToObject(object, f->name, new_item(f, from));
    return object;
}

void gr_result_write(FILE *out, const struct gr_result *result)
{
    cJSON *root = new_object(result_fields, (const char *)result);
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (text)
        fprintf(out, "%s\n", text);
    free(text);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The state of reading. Only the first wrong field is reported. */
struct reader {
    const char *name; /* name of the file */
    const char *text;
    enum gr_need need;
    struct st_error *err;
    bool failed;
};

static void refuse(struct reader *r, const char *field, const char *expected)
{
    if (r->failed)
        return;
    r->failed = true;
    st_fail(r->err, ST_BAD_FORMAT, "not a grading result");
    st_detail(r->err, ST_WHERE, "%s, '%s'", r->name, field);
    st_detail(r->err, ST_EXPECTED, "%s", expected);
}

/* Copies a text; a text that is too long is cut between two characters. */
static bool take_text(const cJSON *item, char *to, size_t room)
{
    const char *text = cJSON_GetStringValue(item);
    size_t length = text ? strlen(text) : 0;
    if (length >= room)
        for (length = room - 1; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    memcpy(to, text ? text : "", length);
    to[length] = '\0';
    return text;
}

static bool take_number(const cJSON *item, double *to)
{
    *to = cJSON_IsNumber(item) ? item->valuedouble : NAN;
    return cJSON_IsNumber(item);
}

/* Reads a count; an invalid number becomes 0. */
static bool take_whole(const cJSON *item, char *to, size_t bytes)
{
    double value;
    const bool number = take_number(item, &value);
    whole_set(to, bytes, value >= 0 && value <= 1e9 ? (size_t)value : 0);
    return number;
}

/* Reads all 64 bits of the seed, which cJSON does not keep. Quotes within strings are escaped, so
 * that this match can only be the field's name. */
static bool take_seed(const struct reader *r, uint64_t *to)
{
    static const char name[] = "\"seed\":";
    const char *seed = strstr(r->text, name);
    *to = seed ? strtoull(seed + sizeof name - 1, NULL, 10) : 0;
    return seed;
}

/* Reads a word: an unknown status becomes a skip; an unknown subject, the first one. */
static bool take_word(const cJSON *item, const struct field *field, char *to)
{
    const char *text = cJSON_GetStringValue(item);
    if (field->words == subjects && text && strcmp(text, "m2") == 0)
        text = subjects[GR_BASELINE]; /* its name in results of earlier versions */
    const size_t word = word_find(field->words, text ? text : "", SIZE_MAX);
    const bool known = word != SIZE_MAX;
    whole_set(to, field->bytes, known ? word : field->words == statuses ? GR_SKIP : 0);
    return known;
}

static void take_fields(struct reader *r, const cJSON *object, const struct field *fields,
                        char *to);

static bool is_needed(const struct reader *r, const struct field *field)
{
    return field->need && field->need <= r->need;
}

/* Reads as many entries as fit into the record. */
static bool take_list(struct reader *r, const cJSON *list, const struct field *field, char *to)
{
    size_t n = 0;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, list)
    {
        char *at = to + field->at + n * field->bytes;
        if (n == field->room)
            break;
        n++;
        if (field->kind == NUMBERS)
            take_number(entry, (double *)at);
        else
            take_fields(r, entry, field->fields, at);
    }
    whole_set(to + field->count_at, field->count_bytes, n);
    if (entry && is_needed(r, field))
        refuse(r, field->name, "no more entries than a grading has");
    return cJSON_IsArray(list);
}

/* @return whether the item exists and has its type. */
static bool take_item(struct reader *r, const cJSON *item, const struct field *field, char *to)
{
    char *at = to + field->at;
    switch (field->kind) {
    case TEXT:
        return take_text(item, at, field->bytes);
    case NUMBER:
        return take_number(item, (double *)at);
    case WHOLE:
        return take_whole(item, at, field->bytes);
    case SEED:
        return take_seed(r, (uint64_t *)at);
    case FLAG:
        *(bool *)at = cJSON_IsTrue(item);
        return cJSON_IsBool(item);
    case WORD:
        return take_word(item, field, at);
    case OBJECT:
        take_fields(r, item, field->fields, to);
        return cJSON_IsObject(item);
    default:
        return take_list(r, item, field, to);
    }
}

static void take_fields(struct reader *r, const cJSON *object, const struct field *fields, char *to)
{
    static const char *const expected[] = {
        [TEXT] = "a string",  [NUMBER] = "a number",    [WHOLE] = "a number",
        [SEED] = "a number",  [FLAG] = "true or false", [OBJECT] = "an object",
        [OBJECTS] = "a list", [NUMBERS] = "a list"};
    for (const struct field *f = fields; f->name; f++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, f->name);
        if (!take_item(r, item, f, to) && is_needed(r, f))
            refuse(r, f->name, f->expected ? f->expected : expected[f->kind]);
    }
}

enum st_code gr_result_read(const char *path, enum gr_need need, struct gr_result *result,
                            struct st_error *err)
{
    char *text;
    size_t bytes;
    enum st_code code = file_read(path, MAX_BYTES, &text, &bytes, err);
    if (code)
        return code;
    struct reader r = {.name = path, .text = text, .need = need, .err = err};
    memset(result, 0, sizeof *result);
    cJSON *root = cJSON_Parse(text);
    if (cJSON_IsObject(root))
        take_fields(&r, root, result_fields, (char *)result);
    else
        refuse(&r, "the whole file", "a JSON object");
    cJSON_Delete(root);
    free(text);
    return r.failed ? ST_BAD_FORMAT : ST_OK;
}
