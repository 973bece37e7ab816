/* train: makes the course's models. See data/README.md. */
#include "base/clock.h"
#include "base/files.h"
#include "base/option_table.h"
#include "data/train/train_expected.h"
#include "data/train/train_model.h"

#include <stdlib.h>

struct options {
    const char *out;
    const struct train_recipe *only; /* or NULL for all */
    uint64_t seed;
};

static void take_model(void *to, char *name, const struct option_row *row, struct argp_state *state)
{
    (void)row;
    if (!(*(const struct train_recipe **)to = train_recipe_find(name)))
        argp_error(state, "no model is named '%s'", name);
}

static const struct option_row rows[] = {
    {"out", 'o', "DIR", "Write the models and expected.tsv to DIR (required)",
     OPTION_NEEDED(struct options, out, "--out DIR is missing")},
    {"seed", 's', "N", "Start from seed N (default: that of the committed models)",
     OPTION_NUMBER(struct options, seed, 0, UINT64_MAX)},
    {"model", 'm', "NAME",
     "Train only this model: one-layer-high, one-layer-low, two-layer, two-layer-86",
     OPTION_TAKE(struct options, only, take_model)},
    {0}};

static const struct option_table table = {
    .rows = rows,
    .about =
        "Trains the course's networks on Fashion-MNIST.\v"
        "The same seed gives the same files on any machine. CONVLAB_DATA=DIR names another folder with the data set."};

static enum st_code train_one(const struct train_recipe *recipe, const struct options *o,
                              const struct nn_dataset *set, struct st_error *err)
{
    double begin = clock_now_s();
    struct train_result result;
    enum st_code code = train_model(recipe, o->seed, set, &result, err);
    if (code == ST_OK)
        code = train_model_write(recipe, o->seed, &result, o->out, err);
    if (code == ST_OK)
        printf("%-15s %5d steps  %.4f on %d held-out images  %.1f s\n", recipe->name, result.steps,
               result.accuracy, TRAIN_HELD_OUT, clock_now_s() - begin);
    fflush(stdout);
    free(result.params);
    return code;
}

int main(int argc, char **argv)
{
    enum { EXIT_CANNOT = 2 };
    struct options o = {.seed = TRAIN_DEFAULT_SEED};
    struct nn_dataset train = {0}, test = {0};
    struct st_error err;
    options_parse(&table, argc, argv, &o);

    enum st_code code = dir_make(o.out, &err);
    if (code == ST_OK)
        code = nn_dataset_load(&train, NULL, NN_TRAIN, 0, &err);
    if (code == ST_OK)
        code = nn_dataset_load(&test, NULL, NN_TEST, 0, &err);
    for (int i = 0; i < TRAIN_RECIPES && code == ST_OK; i++)
        if (!o.only || o.only == &train_recipes[i])
            code = train_one(&train_recipes[i], &o, &train, &err);
    if (code == ST_OK)
        code = train_expected_write(o.out, &test, &err);
    if (code == ST_OK)
        printf("wrote %s/expected.tsv\n", o.out);
    else
        st_print(stderr, "train", &err);
    nn_dataset_free(&train);
    nn_dataset_free(&test);
    return code == ST_OK ? 0 : EXIT_CANNOT;
}
