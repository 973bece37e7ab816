/** @file
 * Training one model from a recipe and a seed: what `make models` does for each model.
 *
 * The same recipe, seed and data give the same parameters, bit for bit, on any machine with any
 * number of cores, for three reasons: the layers and kernels give the same bits everywhere
 * (nn/layers.c, train_conv.c); the gradient of a batch is the sum of a fixed number of shards,
 * each summed by one thread in the order of its images, then added up in the order of the shards;
 * every random choice comes from the seed.
 */
#ifndef CONVLAB_TRAIN_MODEL_H
#define CONVLAB_TRAIN_MODEL_H

#include "base/status.h"
#include "data/train/train_net.h"
#include "nn/dataset.h"

#include <stdint.h>

/** Changes whenever the same seed no longer gives the same models; stored in the models. */
#define TRAIN_VERSION "1"

/** The seed of the committed models. */
enum { TRAIN_DEFAULT_SEED = 2019 };

/** How to train one model. */
struct train_recipe {
    const char *name; /**< of the model */
    struct train_layers layers;
    int batch;                 /**< images per step, a multiple of TRAIN_SHARDS */
    float rate_first;          /**< learning rate of Adam at the first step, */
    float rate_last;           /**< approached linearly over @c steps, then kept */
    int steps;                 /**< after these steps, training may stop */
    int check_every;           /**< from then on: steps between checks of the accuracy */
    int max_steps;             /**< training fails after these steps */
    double stop_from, stop_to; /**< stop when the held-out accuracy is in this range */
};

/** Shards of a batch: the most cores that training can use. */
enum { TRAIN_SHARDS = 16 };

/** Images at the end of the training set that are held out, to decide when to stop. */
enum { TRAIN_HELD_OUT = 2000 };

/** The models of the course. */
enum { TRAIN_RECIPES = 4 };
extern const struct train_recipe train_recipes[TRAIN_RECIPES];

/** @return a recipe by its model's name, or NULL. */
const struct train_recipe *train_recipe_find(const char *name);

/** The result of training. Free params with free(). */
struct train_result {
    struct train_net net;
    float *params;   /**< [net.params] */
    int steps;       /**< steps taken */
    double accuracy; /**< on the held-out images */
};

/** Trains a model, on all cores.
 * @param set  training images, more than TRAIN_HELD_OUT
 * @return ST_OK; ST_NO_MEMORY; ST_USAGE if the accuracy never reached the range of the recipe. On
 * error @p result has no params. */
enum st_code train_model(const struct train_recipe *recipe, uint64_t seed,
                         const struct nn_dataset *set, struct train_result *result,
                         struct st_error *err);

/** Writes a model as DIR/NAME.safetensors, atomically. */
enum st_code train_model_write(const struct train_recipe *recipe, uint64_t seed,
                               const struct train_result *result, const char *dir,
                               struct st_error *err);

#endif
