#include "grader/course/rubric.h"

#include "base/files.h"
#include "exercise/exercise.h"
#include "grader/course/options.h"
#include "base/yaml_file.h"
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

static const cyaml_schema_field_t timed_fields[] = {
    CYAML_FIELD_UINT("images", CYAML_FLAG_DEFAULT, struct gr_timed, images),
    CYAML_FIELD_STRING_PTR("model", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_timed,
                           model, 1, 63),
    CYAML_FIELD_STRING_PTR("gpu", CYAML_FLAG_POINTER, struct gr_timed, gpu, 1, 63),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t item_fields[] = {
    CYAML_FIELD_STRING_PTR("id", CYAML_FLAG_POINTER, struct gr_item, id, 1, 63),
    CYAML_FIELD_ENUM("kind", CYAML_FLAG_STRICT, struct gr_item, kind, kinds,
                     CYAML_ARRAY_LEN(kinds)),
    CYAML_FIELD_FLOAT("points", CYAML_FLAG_DEFAULT, struct gr_item, points),
    CYAML_FIELD_SEQUENCE("at_most", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_item,
                         at_most, &bound_schema, 1, 16),
    CYAML_FIELD_SEQUENCE("linear", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_item, linear,
                         &bound_schema, 1, 16),
    CYAML_FIELD_MAPPING_PTR("timed", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct gr_item,
                            timed, timed_fields),
    CYAML_FIELD_BOOL("by_share", CYAML_FLAG_OPTIONAL, struct gr_item, by_share),
    CYAML_FIELD_BOOL("long_sums", CYAML_FLAG_OPTIONAL, struct gr_item, long_sums),
    CYAML_FIELD_BOOL("whole_layers", CYAML_FLAG_OPTIONAL, struct gr_item, whole_layers),
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
        ((item->counted || item->long_sums || item->whole_layers) && !item->facts)) {
        st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' %s", item->id,
                item->facts          ? "has facts"
                : item->counted      ? "has counted"
                : item->long_sums    ? "has long_sums"
                : item->whole_layers ? "has whole_layers"
                                     : "lacks facts");
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(
            err, ST_HINT,
            "the item 'technique' needs facts; no other item may have facts, counted, long_sums or whole_layers");
    }
    for (unsigned i = 0; i < item->facts_count; i++)
        if (!gr_bound_read(&bound, item->facts[i])) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item 'technique' has a fact that cannot be read");
            st_detail(err, ST_WHERE, "%s", path);
            st_detail(err, ST_EXPECTED,
                      "the name of a fact, or a name with a bound, as in x_shared >= 0.7");
            return st_detail(err, ST_GOT, "%s", item->facts[i]);
        }
    return ST_OK;
}

static enum st_code bad_speed(const char *path, const char *what, const char *hint,
                              struct st_error *err)
{
    st_fail(err, ST_BAD_FORMAT, "rubric: item 'speed' %s", what);
    st_detail(err, ST_WHERE, "%s", path);
    return st_detail(err, ST_HINT, "%s", hint);
}

static enum st_code bad_value(const char *path, const char *key, const char *expected, double got,
                              struct st_error *err)
{
    st_fail(err, ST_BAD_FORMAT, "rubric: item 'speed' has an invalid %s", key);
    st_detail(err, ST_WHERE, "%s", path);
    st_detail(err, ST_EXPECTED, "%s", expected);
    return st_detail(err, ST_GOT, "%g", got);
}

static enum st_code check_at_most(const struct gr_item *item, const char *path,
                                  struct st_error *err)
{
    for (unsigned i = 0; i < item->at_most_count; i++)
        if (!(item->at_most[i] > (i ? item->at_most[i - 1] : 0) && item->at_most[i] <= 1000))
            return bad_value(path, "at_most", "increasing numbers up to 1000, times m2's Op Time",
                             item->at_most[i], err);
    return ST_OK;
}

static enum st_code check_linear(const struct gr_item *item, const char *path, struct st_error *err)
{
    const double *linear = item->linear, most = item->timed ? 1e6 : 1000;
    const char *expected = item->timed ? "two increasing numbers of milliseconds up to 1e6"
                                       : "two increasing numbers up to 1000, times m2's Op Time";
    if (item->linear_count != 2)
        return bad_value(path, "count of numbers in linear", expected, item->linear_count, err);
    if (!(linear[0] > 0 && linear[0] <= most))
        return bad_value(path, "linear", expected, linear[0], err);
    if (!(linear[1] > linear[0] && linear[1] <= most))
        return bad_value(path, "linear", expected, linear[1], err);
    return ST_OK;
}

static enum st_code check_timed(const struct gr_timed *timed, const char *path,
                                struct st_error *err)
{
    if (timed->images < 1 || timed->images > GR_MAX_IMAGES)
        return bad_value(path, "timed: images", "1 to 10000", timed->images, err);
    if (strcmp(timed->gpu, "virtual:") == 0 || strcmp(timed->gpu, "virtual") == 0)
        return bad_speed(path, "does not name a GPU in timed",
                         "gpu: a word in the name of a real GPU (A40), or virtual:h200", err);
    return ST_OK;
}

static enum st_code check_speed(const struct gr_item *item, const char *path, struct st_error *err)
{
    const char *key = item->at_most  ? "at_most"
                      : item->linear ? "linear"
                      : item->timed  ? "timed"
                                     : NULL;
    if (strcmp(item->id, "speed") != 0) {
        if (!key)
            return ST_OK;
        st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' has %s", item->id, key);
        st_detail(err, ST_WHERE, "%s", path);
        return st_detail(err, ST_HINT, "only the item 'speed' may have it");
    }
    if (!item->at_most && !item->linear)
        return bad_speed(path, "lacks at_most or linear",
                         "for example at_most: [3, 4, 6] or linear: [2, 8]", err);
    if (item->at_most && item->linear)
        return bad_speed(
            path, "has at_most and linear",
            "at_most gives points in steps, linear gives them in proportion: choose one", err);
    if (item->at_most && item->timed)
        return bad_speed(path, "has at_most and timed",
                         "timed needs linear, whose bounds are then milliseconds", err);
    enum st_code code =
        item->at_most ? check_at_most(item, path, err) : check_linear(item, path, err);
    if (!code && item->timed)
        code = check_timed(item->timed, path, err);
    return code;
}

/* Checks the rules that the schema cannot express. */
static enum st_code check_items(const struct gr_rubric *rubric, const char *path,
                                struct st_error *err)
{
    const double finest = 20 * 0x1p-24, coarsest = 0.01; /* float32 is more precise than finest */
    if (rubric->tolerance != 0 && !(rubric->tolerance >= finest && rubric->tolerance <= coarsest)) {
        st_fail(err, ST_BAD_FORMAT, "rubric: invalid tolerance");
        st_detail(err, ST_WHERE, "%s", path);
        st_detail(err, ST_EXPECTED, "%.1e to %g, as a fraction of max|x| * sum|k|", finest,
                  coarsest);
        return st_detail(err, ST_GOT, "%g", rubric->tolerance);
    }
    for (unsigned i = 0; i < rubric->items_count; i++) {
        const struct gr_item *item = &rubric->items[i];
        if (!(item->points >= 0 && item->points <= 1000)) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' has invalid points", item->id);
            st_detail(err, ST_WHERE, "%s", path);
            st_detail(err, ST_EXPECTED, "0 to 1000");
            return st_detail(err, ST_GOT, "%g", item->points);
        }
        if (check_speed(item, path, err))
            return err->code;
        if (item->by_share && strcmp(item->id, "unit_shapes") != 0) {
            st_fail(err, ST_BAD_FORMAT, "rubric: item '%s' has by_share", item->id);
            st_detail(err, ST_WHERE, "%s", path);
            return st_detail(err, ST_HINT, "only the item 'unit_shapes' may have it");
        }
        if (check_technique(item, path, err))
            return err->code;
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
    code = yaml_file_load(
        text, bytes, path, "rubric", &rubric_schema, (void **)rubric,
        "keys: milestone, title, technique, items, also compute_capability and tolerance; of an item: id, kind (automatic or manual), points, text, of 'speed' also at_most, or linear and timed (images, model, gpu), of 'unit_shapes' also by_share, of 'technique' also facts, counted, long_sums and whole_layers",
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

size_t gr_item_speed_images(const struct gr_item *item, size_t speed_size)
{
    return item->timed ? item->timed->images : speed_size;
}

const char *gr_item_speed_model(const struct gr_item *item)
{
    return !item->timed ? NULL : item->timed->model ? item->timed->model : GR_DEFAULT_MODEL;
}

double gr_item_speed_points(const struct gr_item *item, double value)
{
    if (item->linear) {
        const double full = item->linear[0], none = item->linear[1];
        const double share = fmax(0, fmin(1, (none - value) / (none - full)));
        return share == 1 ? item->points : floor(10 * item->points * share + 1e-9) / 10;
    }
    unsigned kept = 0;
    while (kept < item->at_most_count && value <= item->at_most[item->at_most_count - 1 - kept])
        kept++;
    return item->points * kept / item->at_most_count;
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
    yaml_file_free(&rubric_schema, rubric);
}
