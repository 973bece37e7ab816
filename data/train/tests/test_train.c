/* Tests of the trainer: its gradients are those of the loss, and its models have the same bits
 * every time. */
#include "base/checkout.h"
#include "base/files.h"
#include "base/parallel.h"
#include "base/tests/temp_folder.h"
#include "base/tsv.h"
#include "data/train/train_expected.h"
#include "data/train/train_model.h"
#include "nn/network.h"

#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- gradients ------------------------------------------------------------------------------ */

static double activated(const struct train_net *net, double value)
{
    return net->activation == NN_TANH ? tanh(value) : fmax(value, 0);
}

static void reference_dense(const struct train_dense *layer, const double *params, const double *x,
                            double *to)
{
    for (int o = 0; o < layer->outputs; o++) {
        to[o] = params[layer->bias + o];
        for (int i = 0; i < layer->inputs; i++)
            to[o] += x[i] * params[layer->weight + (size_t)o * layer->inputs + i];
    }
}

/* The loss of one image by its definition, in float64, as finite differences need. */
static double reference_loss(const struct train_net *net, const double *params, const double *image,
                             int label)
{
    enum { ROOM = 4096 };
    static double x[ROOM], y[ROOM];
    memcpy(x, image, (size_t)net->H * net->W * sizeof *x);
    for (int l = 0; l < net->convs; l++) {
        const struct conv_shape *s = &net->conv[l];
        const double *k = params + net->conv_weight[l];
        int H = s->H - s->K + 1, W = s->W - s->K + 1;
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H; h++)
                for (int w = 0; w < W; w++) {
                    double sum = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                sum += x[(c * s->H + h + p) * s->W + w + q] *
                                       k[((m * s->C + c) * s->K + p) * s->K + q];
                    y[(m * H + h) * W + w] = sum;
                }
        const int side = net->pool[l];
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h < H / side; h++)
                for (int w = 0; w < W / side; w++) {
                    const double *at = y + (m * H + side * h) * W + side * w;
                    double max = -HUGE_VAL;
                    for (int i = 0; i < side * side; i++)
                        max = fmax(max, at[i / side * W + i % side]);
                    x[(m * (H / side) + h) * (W / side) + w] = activated(net, max);
                }
    }
    double score[NN_CLASSES], sum = 0;
    if (net->denses > 1) {
        reference_dense(&net->dense[0], params, x, y);
        for (int i = 0; i < net->dense[0].outputs; i++)
            x[i] = activated(net, y[i]);
    }
    reference_dense(&net->dense[net->denses - 1], params, x, score);
    for (int o = 0; o < NN_CLASSES; o++)
        sum += exp(score[o]);
    return log(sum) - score[label];
}

/* The largest difference between the gradient and central differences, relative to the largest
 * gradient. */
static double gradient_error(const struct train_net *net, uint64_t seed)
{
    const double step = 1e-5;
    struct train_weights weights;
    struct train_scratch scratch;
    struct rng r = rng_make(seed, 0);
    float *params = calloc(net->params, sizeof *params);
    float *gradient = calloc(net->params, sizeof *gradient);
    double *exact = calloc(net->params, sizeof *exact);
    double *image = calloc((size_t)net->H * net->W, sizeof *image);
    cr_assert(params && gradient && exact && image);
    cr_assert(train_weights_make(net, &weights) && train_scratch_make(net, &scratch));

    train_net_init(net, &r, params);
    for (size_t i = 0; i < net->params; i++)
        exact[i] = params[i];
    for (int i = 0; i < net->H * net->W; i++)
        image[i] = scratch.x[0][i] = rng_float(&r, 0, 1);
    int label = rng_range(&r, 0, NN_CLASSES - 1);
    train_weights_pack(net, params, &weights);
    train_net_gradient(net, params, &weights, &scratch, label, gradient);

    double worst = 0, largest = 0;
    for (size_t i = 0; i < net->params; i++) {
        double at = exact[i];
        exact[i] = at + step;
        double above = reference_loss(net, exact, image, label);
        exact[i] = at - step;
        double below = reference_loss(net, exact, image, label);
        exact[i] = at;
        double error = fabs((above - below) / (2 * step) - gradient[i]);
        cr_assert(isfinite(gradient[i]));
        worst = error > worst ? error : worst;
        largest = fabsf(gradient[i]) > largest ? fabsf(gradient[i]) : largest;
    }
    train_scratch_free(&scratch);
    train_weights_free(&weights);
    free(params);
    free(gradient);
    free(exact);
    free(image);
    return worst / largest;
}

Test(train, gradients_agree_with_finite_differences)
{
    static const struct train_layers nets[] = {
        {.H = 10, .W = 13, .convs = 1, .maps = {3}, .K = 3},
        {.H = 14, .W = 15, .convs = 2, .maps = {3, 2}, .K = 3},
        {.H = 18, .W = 19, .convs = 2, .maps = {2, 7}, .K = 5},
        {.H = 24, .W = 22, .convs = 2, .maps = {7, 3}, .K = 4},
        {10, 13, 1, {3}, 3, {3}, 4, NN_TANH},
        {18, 17, 2, {3, 2}, 3, {2, 4}, 6, NN_RELU},
        {38, 41, 2, {2, 3}, 7, {2, 4}, 5, NN_RELU},
        {20, 21, 2, {2, 3}, 3, {3, 2}, 0, NN_RELU},
    };
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) {
            const struct train_net net = train_net_define(&nets[i]);
            double error = gradient_error(&net, seed);
            cr_expect(error < 1e-5, "network %zu, seed %d: error %g of the largest gradient", i,
                      (int)seed, error);
        }
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Every kernel sums in float32 in the order c, p, q, which makes the models the same on all
 * machines. */
static void expect_forward(const struct conv_shape *s, struct rng *r)
{
    size_t x_elems = (size_t)s->C * s->H * s->W + TRAIN_SLACK;
    size_t k_elems = (size_t)s->M * s->C * s->K * s->K;
    float *x = malloc(x_elems * sizeof *x), *k = malloc(k_elems * sizeof *k);
    float *y = malloc(train_conv_y_elems(s) * sizeof *y);
    struct train_packed packed = {malloc(train_conv_tiles_elems(s) * sizeof(float)),
                                  malloc(train_conv_rows_elems(s) * sizeof(float))};
    cr_assert(x && k && y && packed.tiles && packed.rows);
    rng_fill(r, x, x_elems, -1, 1);
    rng_fill(r, k, k_elems, -1, 1);
    train_conv_pack(s, k, &packed);
    for (int kernel = 0; kernel < train_conv_kernels(); kernel++) {
        train_conv_forward_using(kernel, s, x, &packed, y);
        for (int m = 0; m < s->M; m++)
            for (int h = 0; h <= s->H - s->K; h++)
                for (int w = 0; w <= s->W - s->K; w++) {
                    float sum = 0;
                    for (int c = 0; c < s->C; c++)
                        for (int p = 0; p < s->K; p++)
                            for (int q = 0; q < s->K; q++)
                                sum += x[(c * s->H + h + p) * s->W + w + q] *
                                       k[((m * s->C + c) * s->K + p) * s->K + q];
                    cr_assert(y[m * train_conv_plane(s) + h * s->W + w] == sum,
                              "kernel %d: other bits at [%d,%d,%d]", kernel, m, h, w);
                }
    }
    free(x), free(k), free(y), free(packed.tiles), free(packed.rows);
}

Test(train, every_kernel_gives_the_same_bits)
{
    static const struct conv_shape shapes[] = {
        {1, 1, 1, 1, 1, 1},   {1, 12, 1, 70, 70, 5}, {1, 24, 12, 33, 33, 5}, {1, 50, 1, 28, 28, 5},
        {1, 7, 3, 9, 64, 4},  {1, 5, 2, 8, 8, 8},    {1, 6, 2, 3, 67, 3},    {1, 13, 1, 20, 17, 2},
        {1, 4, 1, 86, 86, 7}, {1, 16, 4, 40, 40, 7},
    };
    struct rng r = rng_make(11, 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        expect_forward(&shapes[i], &r);
}

/* ---- models --------------------------------------------------------------------------------- */

static struct nn_dataset load_images(size_t limit)
{
    struct nn_dataset set;
    struct st_error err = {0};
    cr_assert(nn_dataset_load(&set, NULL, NN_TRAIN, limit, &err) == ST_OK, "%s: %s (%s)", err.what,
              err.where, err.hint);
    return set;
}

static struct train_recipe recipe_of(const char *name)
{
    const struct train_recipe *recipe = train_recipe_find(name);
    cr_assert(recipe);
    return *recipe;
}

/* A recipe that ends after a few steps, whatever their result. */
static struct train_recipe short_recipe(const char *name, int steps)
{
    struct train_recipe recipe = recipe_of(name);
    recipe.steps = recipe.max_steps = steps;
    recipe.stop_from = 0;
    recipe.stop_to = 1;
    return recipe;
}

static struct train_result train_or_fail(const struct train_recipe *recipe, uint64_t seed,
                                         const struct nn_dataset *set)
{
    struct train_result result;
    struct st_error err = {0};
    enum st_code code = train_model(recipe, seed, set, &result, &err);
    cr_assert(code == ST_OK, "%s: %s: got %s", err.what, err.where, err.got);
    return result;
}

/* Criterion runs every test in a separate process, so that this confines no other test. */
static void use_one_core(void)
{
    cpu_set_t all, one;
    int core = 0;
    cr_assert(sched_getaffinity(0, sizeof all, &all) == 0);
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    cr_assert(sched_setaffinity(0, sizeof one, &one) == 0 && parallel_cores() == 1);
}

static void expect_same_on_one_core(const char *name, int steps)
{
    struct nn_dataset set = load_images(TRAIN_HELD_OUT + 256);
    struct train_recipe recipe = short_recipe(name, steps);
    struct train_result several = train_or_fail(&recipe, 5, &set);
    struct train_result other = train_or_fail(&recipe, 6, &set);
    use_one_core();
    struct train_result one = train_or_fail(&recipe, 5, &set);
    size_t bytes = one.net.params * sizeof(float);
    cr_expect(one.steps == steps && one.accuracy == several.accuracy);
    cr_expect(memcmp(one.params, several.params, bytes) == 0, "other bits on one core");
    cr_expect(memcmp(other.params, several.params, bytes) != 0, "the seed changes nothing");
    for (size_t i = 0; i < one.net.params; i++)
        cr_assert(isfinite(one.params[i]));
    free(one.params), free(several.params), free(other.params);
    nn_dataset_free(&set);
}

Test(train, one_layer_is_the_same_bits_on_any_number_of_cores)
{
    expect_same_on_one_core("one-layer-high", 12); /* three rounds through the images */
}

Test(train, two_layer_is_the_same_bits_on_any_number_of_cores)
{
    expect_same_on_one_core("two-layer", 1);
}

Test(train, two_layer_86_is_the_same_bits_on_any_number_of_cores)
{
    expect_same_on_one_core("two-layer-86", 1);
}

static void read_file(const char *path, char **data, size_t *bytes)
{
    struct st_error err = {0};
    cr_assert(file_read(path, 1 << 20, data, bytes, &err) == ST_OK, "%s: %s", err.what, err.where);
}

Test(train, makes_the_committed_model_again, .init = temp_folder_make, .fini = temp_folder_remove)
{
    struct st_error err = {0};
    const char *name = "one-layer-low", *root = checkout_root(&err);
    char committed_path[PATH_MAX], *committed, *made;
    size_t committed_bytes, made_bytes;
    cr_assert(root && path_format(committed_path, sizeof committed_path,
                                  "%s/data/models/%s.safetensors", root, name));
    read_file(committed_path, &committed, &committed_bytes);

    struct nn_dataset set = load_images(0);
    struct train_recipe recipe = recipe_of(name);
    struct train_result result = train_or_fail(&recipe, TRAIN_DEFAULT_SEED, &set);
    cr_assert(train_model_write(&recipe, TRAIN_DEFAULT_SEED, &result, temp_folder, &err) == ST_OK);
    read_file(temp_path("one-layer-low.safetensors"), &made, &made_bytes);
    cr_expect(made_bytes == committed_bytes && memcmp(made, committed, made_bytes) == 0,
              "trained again, %s has other bytes", name);

    free(result.params), free(made), free(committed);
    nn_dataset_free(&set);
}

Test(train, writes_the_files_that_a_network_is_loaded_from, .init = temp_folder_make,
     .fini = temp_folder_remove)
{
    struct train_recipe recipe = short_recipe("two-layer", 1);
    struct train_net net = train_net_define(&recipe.layers);
    struct train_result result = {net, malloc(net.params * sizeof(float)), 1, 0};
    struct rng r = rng_make(1, 0);
    struct st_error err = {0};
    cr_assert(result.params);
    train_net_init(&net, &r, result.params);
    cr_assert(train_model_write(&recipe, 42, &result, temp_folder, &err) == ST_OK, "%s", err.what);

    struct nn_network loaded;
    cr_assert(nn_network_load(&loaded, temp_folder, "two-layer", &err) == ST_OK, "%s: %s", err.what,
              err.where);
    cr_expect_str_eq(nn_safetensors_metadata(&loaded.file, "seed"), "42");
    cr_expect_str_eq(nn_safetensors_metadata(&loaded.file, "model"), "two-layer");
    cr_expect_str_eq(nn_safetensors_metadata(&loaded.file, "image"), "70x70");
    cr_expect_str_eq(nn_safetensors_metadata(&loaded.file, "trainer"), TRAIN_VERSION);
    cr_expect(memcmp(loaded.conv_weight[1], result.params + net.conv_weight[1],
                     (size_t)24 * 12 * 25 * sizeof(float)) == 0);
    cr_expect(memcmp(loaded.dense[0].weight, result.params + net.dense[0].weight,
                     (size_t)NN_CLASSES * net.dense[0].inputs * sizeof(float)) == 0);

    enum st_code code = train_model_write(&recipe, 42, &result, temp_path("none"), &err);
    cr_expect(code != ST_OK, "written into a folder that does not exist");
    nn_network_free(&loaded);
    free(result.params);
}

Test(train, writes_activation_windows_and_both_dense_layers, .init = temp_folder_make,
     .fini = temp_folder_remove)
{
    struct train_recipe recipe = short_recipe("two-layer-86", 1);
    struct train_net net = train_net_define(&recipe.layers);
    struct train_result result = {net, malloc(net.params * sizeof(float)), 1, 0};
    struct nn_network loaded;
    struct rng r = rng_make(1, 0);
    struct st_error err = {0};
    cr_assert(result.params);
    train_net_init(&net, &r, result.params);
    cr_assert(train_model_write(&recipe, 42, &result, temp_folder, &err) == ST_OK, "%s", err.what);
    cr_assert(nn_network_load(&loaded, temp_folder, recipe.name, &err) == ST_OK, "%s: %s", err.what,
              err.where);
    cr_expect(loaded.activation == NN_RELU && loaded.pool[0] == 2 && loaded.pool[1] == 4);
    cr_assert(loaded.denses == 2 && loaded.dense[0].inputs == 1024 &&
              loaded.dense[0].outputs == 32);
    for (int i = 0; i < 2; i++) {
        const struct train_dense *layer = &net.dense[i];
        cr_expect(memcmp(loaded.dense[i].weight, result.params + layer->weight,
                         (size_t)layer->outputs * layer->inputs * sizeof(float)) == 0);
        cr_expect(memcmp(loaded.dense[i].bias, result.params + layer->bias,
                         layer->outputs * sizeof(float)) == 0);
    }
    nn_network_free(&loaded);
    free(result.params);
}

Test(train, gives_up_when_the_accuracy_stays_out_of_reach)
{
    struct nn_dataset set = load_images(TRAIN_HELD_OUT + 64);
    struct train_recipe recipe = short_recipe("one-layer-low", 2);
    struct train_result result;
    struct st_error err = {0};
    recipe.stop_from = 1;
    cr_expect(train_model(&recipe, 3, &set, &result, &err) == ST_USAGE);
    cr_expect(!result.params);
    cr_expect(strstr(err.where, "seed 3") && strstr(err.hint, "another seed"), "%s", err.where);
    nn_dataset_free(&set);
}

/* ---- expected.tsv and the command line ------------------------------------------------------ */

Test(train, lists_the_accuracies_of_the_existing_models, .init = temp_folder_make,
     .fini = temp_folder_remove)
{
    struct st_error err = {0};
    struct nn_dataset test;
    struct tsv table;
    char path[PATH_MAX], *bytes;
    size_t size;
    cr_assert(path_format(path, sizeof path, "%s/data/models/one-layer-low.safetensors",
                          checkout_root(&err)));
    read_file(path, &bytes, &size);
    temp_file("one-layer-low.safetensors", bytes, size);
    cr_assert(nn_dataset_load(&test, NULL, NN_TEST, 0, &err) == ST_OK, "%s", err.what);
    cr_assert(train_expected_write(temp_folder, &test, &err) == ST_OK, "%s", err.what);
    cr_assert(tsv_read(temp_path("expected.tsv"), &table, &err) == ST_OK, "%s", err.what);
    cr_expect(table.rows == 3 && table.columns == 3);
    cr_expect_str_eq(tsv_cell(&table, 2, tsv_column(&table, "model")), "one-layer-low");
    cr_expect_str_eq(tsv_cell(&table, 2, tsv_column(&table, "images")), "10000");
    tsv_free(&table);

    /* A damaged model leaves the old table unchanged. */
    temp_file("two-layer.safetensors", "damaged", 7);
    cr_expect(train_expected_write(temp_folder, &test, &err) != ST_OK);
    cr_expect(tsv_read(temp_path("expected.tsv"), &table, &err) == ST_OK && table.rows == 3);
    test.images = 9999;
    cr_expect(train_expected_write(temp_folder, &test, &err) == ST_TRUNCATED);
    tsv_free(&table);
    free(bytes);
    nn_dataset_free(&test);
}

/* Runs the program; expects exit status 2 and this text on standard error. */
static void expect_usage_error(const char *arguments, const char *text)
{
    struct st_error err;
    char command[2 * PATH_MAX], output[4096] = "";
    cr_assert(path_format(command, sizeof command, "'%s/../train' %s 2>&1", checkout_build(&err),
                          arguments));
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    size_t n = fread(output, 1, sizeof output - 1, pipe);
    output[n] = '\0';
    int status = pclose(pipe);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 2, "train %s: status %d", arguments,
              status);
    cr_expect(strstr(output, text), "train %s: %s", arguments, output);
}

Test(train_command, explains_wrong_usage)
{
    expect_usage_error("", "--out DIR is missing");
    expect_usage_error("--out x --seed 12a", "got '12a'");
    expect_usage_error("--out x --seed -1", "got '-1'");
    expect_usage_error("--out x --model three-layer", "no model is named 'three-layer'");
    expect_usage_error("--out x --colour", "unrecognized option");
    expect_usage_error("--out /dev/null/x", "train: ");
}
