#include "data/train/train_model.h"

#include "base/files.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "nn/oracle.h"
#include "nn/safetensors.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* vectorise loops of any length */
#endif

/* ---- recipes -------------------------------------------------------------------------------- */

/* one-layer-low has the shapes of one-layer-high, but other initial values and a training that
 * stops early, so that it gives other answers. Its small learning rate lets training stop close to
 * a given accuracy. */
const struct train_recipe train_recipes[TRAIN_RECIPES] = {
    {
        .name = "one-layer-high",
        .layers = {.H = 28, .W = 28, .convs = 1, .maps = {50}, .K = 5},
        .batch = 64,
        .rate_first = 1e-3f,
        .rate_last = 1e-4f,
        .steps = 4000,
        .check_every = 250,
        .max_steps = 8000,
        .stop_from = 0.90,
        .stop_to = 1,
    },
    {
        .name = "one-layer-low",
        .layers = {.H = 28, .W = 28, .convs = 1, .maps = {50}, .K = 5},
        .batch = 64,
        .rate_first = 5e-5f,
        .rate_last = 5e-5f,
        .steps = 10,
        .check_every = 2,
        .max_steps = 500,
        .stop_from = 0.61,
        .stop_to = 0.65,
    },
    {
        .name = "two-layer",
        .layers = {.H = 70, .W = 70, .convs = 2, .maps = {12, 24}, .K = 5},
        .batch = 64,
        .rate_first = 1e-3f,
        .rate_last = 1e-4f,
        .steps = 2400,
        .check_every = 200,
        .max_steps = 4800,
        .stop_from = 0.90,
        .stop_to = 1,
    },
    {
        .name = "two-layer-86",
        .layers = {.H = 86,
                   .W = 86,
                   .convs = 2,
                   .maps = {4, 16},
                   .K = 7,
                   .pool = {2, 4},
                   .hidden = 32,
                   .activation = NN_RELU},
        .batch = 64,
        .rate_first = 1e-3f,
        .rate_last = 1e-4f,
        .steps = 6000,
        .check_every = 200,
        .max_steps = 12000,
        .stop_from = 0.90,
        .stop_to = 1,
    },
};

const struct train_recipe *train_recipe_find(const char *name)
{
    for (int i = 0; i < TRAIN_RECIPES; i++)
        if (strcmp(train_recipes[i].name, name) == 0)
            return &train_recipes[i];
    return NULL;
}

/* ---- state ---------------------------------------------------------------------------------- */

struct shard {
    struct train_scratch scratch;
    float *gradient; /* [params] */
    size_t right;    /* held-out images classified correctly */
};

struct trainer {
    const struct train_recipe *recipe;
    const struct nn_dataset *set;
    struct train_net net;
    float *params, *mean, *variance; /* [params]; the latter two are Adam's */
    struct train_weights weights;
    struct shard shard[TRAIN_SHARDS];
    struct rng shuffle;
    size_t images;                     /* training images; those after them are held out */
    uint32_t *order;                   /* [images], shuffled again after all have been used */
    size_t next;                       /* position in order where the batch begins */
    double decay_mean, decay_variance; /* powers of Adam's two constants */
};

static void trainer_free(struct trainer *t)
{
    for (int i = 0; i < TRAIN_SHARDS; i++) {
        train_scratch_free(&t->shard[i].scratch);
        free(t->shard[i].gradient);
    }
    train_weights_free(&t->weights);
    free(t->params);
    free(t->mean);
    free(t->variance);
    free(t->order);
}

static void shuffle_order(struct trainer *t)
{
    for (size_t i = t->images - 1; i > 0; i--) {
        size_t j = (size_t)rng_range(&t->shuffle, 0, (int)i);
        uint32_t swap = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = swap;
    }
    t->next = 0;
}

static bool trainer_make(struct trainer *t, const struct train_recipe *recipe, uint64_t seed,
                         const struct nn_dataset *set)
{
    *t = (struct trainer){.recipe = recipe, .set = set, .decay_mean = 1, .decay_variance = 1};
    t->net = train_net_define(&recipe->layers);
    t->images = set->images - TRAIN_HELD_OUT;
    t->params = calloc(t->net.params, sizeof(float));
    t->mean = calloc(t->net.params, sizeof(float));
    t->variance = calloc(t->net.params, sizeof(float));
    t->order = calloc(t->images, sizeof *t->order);
    bool made =
        t->params && t->mean && t->variance && t->order && train_weights_make(&t->net, &t->weights);
    for (int i = 0; i < TRAIN_SHARDS && made; i++) {
        t->shard[i].gradient = calloc(t->net.params, sizeof(float));
        made = t->shard[i].gradient && train_scratch_make(&t->net, &t->shard[i].scratch);
    }
    if (!made)
        return false;
    /* Each model has a separate random stream, so the order of training does not matter. */
    uint64_t stream = 0;
    for (const char *c = recipe->name; *c; c++)
        stream = stream * 31 + (unsigned char)*c;
    struct rng init = rng_make(seed, stream);
    t->shuffle = rng_make(seed, stream + 1);
    train_net_init(&t->net, &init, t->params);
    for (size_t i = 0; i < t->images; i++)
        t->order[i] = (uint32_t)i;
    shuffle_order(t);
    return true;
}

/* ---- one step ------------------------------------------------------------------------------- */

static void load_image(const struct trainer *t, size_t index, struct train_scratch *scratch)
{
    nn_dataset_scale(t->set, index, 1, t->net.H, t->net.W, scratch->x[0]);
}

static void shard_gradient(void *context, size_t piece)
{
    struct trainer *t = context;
    struct shard *s = &t->shard[piece];
    size_t count = (size_t)t->recipe->batch / TRAIN_SHARDS;
    memset(s->gradient, 0, t->net.params * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        size_t index = t->order[t->next + piece * count + i];
        load_image(t, index, &s->scratch);
        train_net_gradient(&t->net, t->params, &t->weights, &s->scratch, t->set->labels[index],
                           s->gradient);
    }
}

/* Adam (Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015), algorithm 1. */
static void adam(struct trainer *t, const float *restrict gradient, float learning_rate)
{
    const float keep_mean = 0.9f, keep_variance = 0.999f, epsilon = 1e-8f;
    float *restrict params = t->params, *restrict mean = t->mean, *restrict variance = t->variance;
    t->decay_mean *= keep_mean;
    t->decay_variance *= keep_variance;
    const float rate = (float)(learning_rate / (1 - t->decay_mean));
    const float unbias = (float)(1 / (1 - t->decay_variance));
    for (size_t i = 0; i < t->net.params; i++) {
        mean[i] = keep_mean * mean[i] + (1 - keep_mean) * gradient[i];
        variance[i] =
            keep_variance * variance[i] + (1 - keep_variance) * (gradient[i] * gradient[i]);
        params[i] -= rate * mean[i] / (sqrtf(variance[i] * unbias) + epsilon);
    }
}

static void take_step(struct trainer *t, int step)
{
    const struct train_recipe *r = t->recipe;
    if (t->next + r->batch > t->images)
        shuffle_order(t);
    train_weights_pack(&t->net, t->params, &t->weights);
    parallel_for(TRAIN_SHARDS, shard_gradient, t);
    t->next += r->batch;

    float *restrict sum = t->shard[0].gradient;
    for (int s = 1; s < TRAIN_SHARDS; s++)
        for (size_t i = 0; i < t->net.params; i++)
            sum[i] += t->shard[s].gradient[i];
    for (size_t i = 0; i < t->net.params; i++)
        sum[i] /= (float)r->batch;
    float done = step < r->steps ? (float)step / (float)r->steps : 1;
    adam(t, sum, r->rate_first + (r->rate_last - r->rate_first) * done);
}

/* ---- held-out images ------------------------------------------------------------------------ */

static void shard_accuracy(void *context, size_t piece)
{
    struct trainer *t = context;
    struct shard *s = &t->shard[piece];
    s->right = 0;
    for (size_t i = t->images + piece; i < t->set->images; i += TRAIN_SHARDS) {
        load_image(t, i, &s->scratch);
        s->right +=
            train_net_forward(&t->net, t->params, &t->weights, &s->scratch) == t->set->labels[i];
    }
}

static double held_out_accuracy(struct trainer *t)
{
    size_t right = 0;
    train_weights_pack(&t->net, t->params, &t->weights);
    parallel_for(TRAIN_SHARDS, shard_accuracy, t);
    for (int i = 0; i < TRAIN_SHARDS; i++)
        right += t->shard[i].right;
    return (double)right / TRAIN_HELD_OUT;
}

/* ---- training ------------------------------------------------------------------------------- */

enum st_code train_model(const struct train_recipe *recipe, uint64_t seed,
                         const struct nn_dataset *set, struct train_result *result,
                         struct st_error *err)
{
    assert(recipe->batch % TRAIN_SHARDS == 0);
    assert(set->images >= (size_t)TRAIN_HELD_OUT + recipe->batch && set->images <= INT_MAX);
    enum st_code code = ST_OK;
    struct trainer t;
    *result = (struct train_result){0};
    if (!trainer_make(&t, recipe, seed, set)) {
        code = st_fail(err, ST_NO_MEMORY, "not enough memory to train %s", recipe->name);
        st_detail(err, ST_HINT, "close other programs");
        goto cleanup;
    }
    bool stop = false;
    int step = 0;
    double accuracy = 0;
    while (!stop && step < recipe->max_steps) {
        take_step(&t, step++);
        if (step >= recipe->steps && (step - recipe->steps) % recipe->check_every == 0) {
            accuracy = held_out_accuracy(&t);
            stop = accuracy >= recipe->stop_from && accuracy <= recipe->stop_to;
        }
        progress_show(recipe->name, (size_t)step,
                      (size_t)(step < recipe->steps ? recipe->steps : recipe->max_steps));
    }
    progress_clear();
    if (!stop) {
        code = st_fail(err, ST_USAGE, "training of %s did not reach the required accuracy",
                       recipe->name);
        st_detail(err, ST_WHERE, "seed %llu, %d steps", (unsigned long long)seed, step);
        st_detail(err, ST_EXPECTED, "an accuracy from %g to %g on held-out images",
                  recipe->stop_from, recipe->stop_to);
        st_detail(err, ST_GOT, "%g", accuracy);
        st_detail(err, ST_HINT, "try another seed");
        goto cleanup;
    }
    *result = (struct train_result){t.net, t.params, step, accuracy};
    t.params = NULL;
cleanup:
    trainer_free(&t);
    return code;
}

/* ---- the file ------------------------------------------------------------------------------- */

static size_t list_dense(const struct train_result *result, int i, struct nn_tensor *to)
{
    const struct train_dense *layer = &result->net.dense[i];
    const size_t inputs = (size_t)layer->inputs, outputs = (size_t)layer->outputs;
    char name[8] = "fc";
    if (result->net.denses > 1)
        snprintf(name, sizeof name, "fc%d", i + 1);
    to[0] = (struct nn_tensor){.dims = 2,
                               .shape = {outputs, inputs},
                               .elems = outputs * inputs,
                               .data = result->params + layer->weight};
    to[1] = (struct nn_tensor){
        .dims = 1, .shape = {outputs}, .elems = outputs, .data = result->params + layer->bias};
    snprintf(to[0].name, sizeof to[0].name, "%s.weight", name);
    snprintf(to[1].name, sizeof to[1].name, "%s.bias", name);
    return 2;
}

static size_t list_tensors(const struct train_result *result, struct nn_tensor *tensor)
{
    const struct train_net *net = &result->net;
    size_t tensors = 0;
    for (int i = 0; i < net->convs; i++) {
        const struct conv_shape *s = &net->conv[i];
        struct nn_tensor *t = &tensor[tensors++];
        *t = (struct nn_tensor){
            .dims = 4,
            .shape = {(size_t)s->M, (size_t)s->C, (size_t)s->K, (size_t)s->K},
            .elems = nn_conv_k_elems(s),
            .data = result->params + net->conv_weight[i],
        };
        snprintf(t->name, sizeof t->name, "conv%d.weight", i + 1);
    }
    for (int i = 0; i < net->denses; i++)
        tensors += list_dense(result, i, tensor + tensors);
    return tensors;
}

enum st_code train_model_write(const struct train_recipe *recipe, uint64_t seed,
                               const struct train_result *result, const char *dir,
                               struct st_error *err)
{
    const struct train_net *net = &result->net;
    struct nn_tensor tensor[NN_MAX_CONVS + 2 * NN_MAX_DENSE] = {0};
    size_t tensors = list_tensors(result, tensor);
    struct nn_metadata metadata[6] = {{.key = "image"},
                                      {.key = "model"},
                                      {.key = "seed"},
                                      {.key = "trainer", .value = TRAIN_VERSION}};
    size_t pairs = 4;
    snprintf(metadata[0].value, sizeof metadata[0].value, "%dx%d", net->H, net->W);
    snprintf(metadata[1].value, sizeof metadata[1].value, "%s", recipe->name);
    snprintf(metadata[2].value, sizeof metadata[2].value, "%llu", (unsigned long long)seed);
    if (net->activation == NN_RELU)
        metadata[pairs++] = (struct nn_metadata){"activation", "relu"};
    if (recipe->layers.pool[0]) {
        struct nn_metadata *pool = &metadata[pairs++];
        *pool = (struct nn_metadata){.key = "pool"};
        snprintf(pool->value, sizeof pool->value, net->convs == 1 ? "%d" : "%d,%d", net->pool[0],
                 net->pool[1]);
    }

    char path[PATH_MAX];
    if (!path_format(path, sizeof path, "%s/%s.safetensors", dir, recipe->name)) {
        st_fail(err, ST_USAGE, "the path of the output folder is too long");
        st_detail(err, ST_WHERE, "%s", dir);
        return ST_USAGE;
    }
    return nn_safetensors_write(path, tensor, tensors, metadata, pairs, err);
}
