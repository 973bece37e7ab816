#include "grader/course/rubric.h"

#include "base/files.h"
#include "exercise/exercise.h"
#include "grader/course/options.h"
#include "grader/course/yaml_file.h"
#include "grader/record/result.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cyaml_strval_t kinds[] = {{"automatic", GR_AUTOMATIC}, {"manual", GR_MANUAL}};

static const cyaml_schema_value_t bound_schema = {
    CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double),
};

static const cyaml_schema_value_t word_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, 79),
};

static const cyaml_schema_field_t item_fields[] = {
    CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct gr_item, id, 1, 63),
    CYAML_FIELD_ENUM("kind", CYAML_FLAG_STRICT, struct gr_item, kind, kinds,
                     CYAML_ARRAY_LEN(kinds)),
    CYAML_FIELD_FLOAT("points", CYAML_FLAG_DEFAULT, struct gr_item, points),
    CYAML_FIELD_SEQUENCE("at_most", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_item,
                         at_most, &bound_schema, 1, 16),
    CYAML_FIELD_BOOL("by_share", CYAML_FLAG_OPTIONAL, struct gr_item, by_share),
    CYAML_FIELD_BOOL("long_sums", CYAML_FLAG_OPTIONAL, struct gr_item, long_sums),
    CYAML_FIELD_SEQUENCE("facts", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_item, facts,
                         &word_schema, 1, GR_MAX_EVIDENCE),
    CYAML_FIELD_SEQUENCE("counted", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_item,
                         counted, &word_schema, 1, GR_MAX_COUNTED),
    CYAML_FIELD_STRING_PTR("text", CYAML_FLAG_POINTER, struct gr_item, text, 1, 511),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t item_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct gr_item, item_fields),
};

static const cyaml_schema_field_t rubric_fields[] = {
    CYAML_FIELD_STRING_PTR("milestone", CYAML_FLAG_POINTER, struct gr_rubric, milestone, 1, 15),
    CYAML_FIELD_STRING_PTR("title", CYAML_FLAG_POINTER, struct gr_rubric, title, 1, 127),
    CYAML_FIELD_STRING_PTR("technique", CYAML_FLAG_POINTER, struct gr_rubric, technique, 1, 255),
    CYAML_FIELD_UINT("compute_capability", CYAML_FLAG_OPTIONAL, struct gr_rubric,
                     compute_capability),
    CYAML_FIELD_FLOAT("tolerance", CYAML_FLAG_OPTIONAL, struct gr_rubric, tolerance),
    CYAML_FIELD_SEQUENCE("items", CYAML_FLAG_POINTER, struct gr_rubric, items, &item_schema, 1, 32),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t rubric_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct gr_rubric, rubric_fields),
};

static enum st_code check_technique(const struct gr_item *item, const char *path,
                                    struct st_error *err)
{
    struct gr_bound bound;
    if (!item->facts != (strcmp(item->id, "technique") != 0) ||
        ((item->counted || item->long_sums) && !item->facts)) {
        st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' %s", item->id,
                item->facts       ? "has facts"
                : item->counted   ? "has counted"
                : item->long_sums ? "has long_sums"
                                  : "lacks facts");
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(err, ST_HINT, "the item 'technique' has them, and no other");
    }
    for (unsigned i = 0; i < item->facts_count; i++)
        if (!gr_bound_read(&bound, item->facts[i])) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item 'technique' has a fact that cannot be read");
            st_detail(err, ST_WHERE, "%s", path);
            st_detail(err, ST_EXPECTED, "a name, or a name, >= or <=, and a number");
            return st_detail(err, ST_GOT, "%s", item->facts[i]);
        }
    return ST_OK;
}

/* Checks the rules that the schema cannot express. */
static enum st_code check_items(const struct gr_rubric *rubric, const char *path,
                                struct st_error *err)
{
    const double finest = 20 * 0x1p-24, coarsest = 0.01; /* float32's sums are finer than that */
    if (rubric->tolerance != 0 && !(rubric->tolerance >= finest && rubric->tolerance <= coarsest)) {
        st_fail(err, ST_BAD_FORMAT, "rubric: impossible tolerance");
        st_detail(err, ST_WHERE, "%s", path);
        st_detail(err, ST_EXPECTED, "%.1e to %g, as a part of max|x| * sum|k|", finest, coarsest);
        return st_detail(err, ST_GOT, "%g", rubric->tolerance);
    }
    for (unsigned i = 0; i < rubric->items_count; i++) {
        const struct gr_item *item = &rubric->items[i];
        if (!(item->points >= 0 && item->points <= 1000)) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' has impossible points", item->id);
            st_detail(err, ST_WHERE, "%s", path);
            st_detail(err, ST_EXPECTED, "0 to 1000");
            return st_detail(err, ST_GOT, "%g", item->points);
        }
        if (!item->at_most != (strcmp(item->id, "speed") != 0)) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' %s at_most", item->id,
                    item->at_most ? "has" : "lacks");
            st_detail(err, ST_WHERE, "%s", path);
            return st_detail(err, ST_HINT, "the item 'speed' has it, and no other");
        }
        if (item->by_share && strcmp(item->id, "unit_shapes") != 0) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' has by_share", item->id);
            st_detail(err, ST_WHERE, "%s", path);
            return st_detail(err, ST_HINT, "the item 'unit_shapes' may have it, and no other");
        }
        if (check_technique(item, path, err))
            return err->code;
        for (unsigned j = 0; j < item->at_most_count; j++) {
            const double least = j ? item->at_most[j - 1] : 0;
            if (item->at_most[j] > least && item->at_most[j] <= 1000)
                continue;
            st_fail(err, ST_BAD_FORMAT, "rubric: item 'speed' has an impossible at_most");
            st_detail(err, ST_WHERE, "%s", path);
            st_detail(err, ST_EXPECTED, "rising numbers up to 1000, times m2's Op Time");
            return st_detail(err, ST_GOT, "%g", item->at_most[j]);
        }
        for (unsigned j = 0; j < i; j++) {
            if (strcmp(rubric->items[j].id, item->id) == 0) {
                st_fail(err, ST_BAD_FORMAT, "rubric: two items have the id '%s'", item->id);
                return st_detail(err, ST_WHERE, "%s", path);
            }
        }
    }
    return ST_OK;
}

enum st_code gr_rubric_load(struct gr_rubric **rubric, const char *path, struct st_error *err)
{
    char *text;
    size_t bytes;
    *rubric = NULL;
    enum st_code code = file_read(path, 1 << 20, &text, &bytes, err);
    if (code)
        return code;
    code = gr_yaml_load(
        text, bytes, path, "rubric", &rubric_schema, (void **)rubric,
        "keys: milestone, title, technique, items, also compute_capability and tolerance; of an item: id, kind (automatic or manual), points, text, of 'speed' also at_most, of 'unit_shapes' also by_share, of 'technique' also facts, counted and long_sums",
        err);
    free(text);
    if (code)
        return code;
    code = check_items(*rubric, path, err);
    if (code) {
        gr_rubric_free(*rubric);
        *rubric = NULL;
    }
    return code;
}

size_t gr_item_images(const struct gr_item *item)
{
    for (size_t i = 0; exercise_at(i); i++) {
        const size_t length = strlen(exercise_at(i)->sized);
        const char *number = item->id + length + 1;
        char *end;
        if (strncmp(item->id, exercise_at(i)->sized, length) != 0 || item->id[length] != '_' ||
            !isdigit((unsigned char)*number))
            continue;
        const unsigned long images = strtoul(number, &end, 10);
        return *end || images > GR_MAX_IMAGES ? 0 : images;
    }
    return 0;
}

const struct gr_item *gr_rubric_item(const struct gr_rubric *rubric, const char *id)
{
    for (unsigned i = 0; i < rubric->items_count; i++)
        if (strcmp(rubric->items[i].id, id) == 0 && rubric->items[i].kind == GR_AUTOMATIC)
            return &rubric->items[i];
    return NULL;
}

bool gr_bound_read(struct gr_bound *to, const char *fact)
{
    char relation[3] = "";
    int length = 0, name = 0;
    *to = (struct gr_bound){.relation = GR_JUDGED};
    if (sscanf(fact, "%47[a-z0-9_]%n %2[<>=] %lf%n", to->fact, &name, relation, &to->bound,
               &length) < 1 ||
        (name && !fact[name]))
        return name > 0;
    to->relation = relation[0] == '<' ? GR_AT_MOST : GR_AT_LEAST;
    return length && !fact[length] && isfinite(to->bound) &&
           (strcmp(relation, ">=") == 0 || strcmp(relation, "<=") == 0);
}

void gr_rubric_free(struct gr_rubric *rubric)
{
    gr_yaml_free(&rubric_schema, rubric);
}
