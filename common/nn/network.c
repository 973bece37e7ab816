/** @file
 * Networks: checks a model file against the rules of a network, and runs inference.
 *
 * Checking follows the data: image size, activation and pooling come from the metadata, and each
 * tensor's shape from the layers before it.
 *
 *     image HxW -> conv1.weight [M][1][K][K] -> pool -> [conv2.weight [M'][M][K][K] -> pool ->]
 *     fc.weight [10][features], fc.bias [10]
 *     or fc1.weight [N][features], fc1.bias [N] -> fc2.weight [10][N], fc2.bias [10]
 */
#include "nn/network.h"

#include "base/checkout.h"
#include "base/files.h"
#include "nn/dataset.h"
#include "nn/layers.h"
#include "nn/oracle.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".safetensors"

/* No model of the course exceeds these sizes; larger ones may not fit in an int. */
enum { MAX_SIDE = 4096, MAX_MAPS = 65536, MAX_HIDDEN = 1024 };

/* ---- finding the file ----------------------------------------------------------------------- */

static int is_model(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name), suffix = strlen(SUFFIX);
    return n > suffix && strcmp(entry->d_name + n - suffix, SUFFIX) == 0;
}

/* Sets the hint to the names of the existing models. */
static void suggest_models(const char *folder, struct st_error *err)
{
    struct dirent **entry = NULL;
    int n = scandir(folder, &entry, is_model, alphasort);
    char list[sizeof err->hint] = "";
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        int stem = (int)(strlen(entry[i]->d_name) - strlen(SUFFIX));
        if (used + stem + 3 < sizeof list - 64)
            used += snprintf(list + used, sizeof list - used, "%s%.*s", used ? ", " : "", stem,
                             entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (n < 0)
        st_detail(err, ST_HINT,
                  "the folder of models does not exist (train them with: make models)");
    else if (used == 0)
        st_detail(err, ST_HINT, "the folder has no models (train them with: make models)");
    else
        st_detail(err, ST_HINT, "models in this folder: %s", list);
}

enum st_code nn_model_place(const char *model, char folder[PATH_MAX], char name[256],
                            struct st_error *err)
{
    const char *root = checkout_root(err);
    if (!root)
        return err->code;
    const char *slash = strrchr(model, '/');
    const char *base = slash ? slash + 1 : model;
    const size_t length = strlen(base), suffix = sizeof SUFFIX - 1;
    const bool is_file = length > suffix && strcmp(base + length - suffix, SUFFIX) == 0;
    snprintf(name, 256, "%.*s", (int)(is_file ? length - suffix : length), base);
    if (slash)
        path_format(folder, PATH_MAX, "%.*s", (int)(slash - model), model);
    else if (is_file)
        path_format(folder, PATH_MAX, ".");
    else
        path_format(folder, PATH_MAX, "%s/data/models", root);
    return ST_OK;
}

static enum st_code find_model(const char *folder, const char *name, char *path, size_t room,
                               struct st_error *err)
{
    bool usable = name[0] && name[0] != '.' && !strchr(name, '/') &&
                  strlen(name) < sizeof((struct nn_network *)0)->name;
    if (usable && !path_format(path, room, "%s/%s" SUFFIX, folder, name)) {
        st_fail(err, ST_USAGE, "the path of the model folder is too long");
        return st_detail(err, ST_WHERE, "%s", folder);
    }
    if (usable && file_exists(path))
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "no model is named '%s'", name);
    st_detail(err, ST_WHERE, "%s", folder);
    suggest_models(folder, err);
    return ST_NOT_FOUND;
}

/* ---- checking the file ---------------------------------------------------------------------- */

struct checker {
    struct nn_network *net;
    const char *path;
    size_t used; /* number of the file's tensors that belong to the network */
    struct st_error *err;
};

/* "[12, 1, 5, 5]" */
static void shape_text(char *to, size_t room, const size_t *shape, int dims)
{
    size_t used = snprintf(to, room, "[");
    for (int i = 0; i < dims && used < room; i++)
        used += snprintf(to + used, room - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < room)
        snprintf(to + used, room - used, "]");
}

static enum st_code bad_tensor(const struct checker *c, const char *what, const char *name)
{
    st_fail(c->err, ST_BAD_FORMAT, "%s", what);
    st_detail(c->err, ST_HINT, "the file is not one of the course's networks; see data/README.md");
    return st_detail(c->err, ST_WHERE, "%s: %s", c->path, name);
}

static enum st_code wrong_shape(const struct checker *c, const struct nn_tensor *t,
                                const char *expected)
{
    char got[128];
    shape_text(got, sizeof got, t->shape, t->dims);
    bad_tensor(c, "a tensor has the wrong shape", t->name);
    st_detail(c->err, ST_EXPECTED, "%s", expected);
    return st_detail(c->err, ST_GOT, "%s", got);
}

/* Finds a tensor of the network and checks that its values are finite. */
static enum st_code take_tensor(struct checker *c, const char *name, const struct nn_tensor **t)
{
    *t = nn_safetensors_find(&c->net->file, name);
    if (!*t)
        return bad_tensor(c, "a tensor is missing", name);
    c->used++;
    for (size_t i = 0; i < (*t)->elems; i++)
        if (!isfinite((*t)->data[i])) {
            bad_tensor(c, "a weight is not a finite number", name);
            return st_detail(c->err, ST_GOT, "%g at element %zu", (*t)->data[i], i);
        }
    return ST_OK;
}

static enum st_code check_image(struct checker *c)
{
    const char *image = nn_safetensors_metadata(&c->net->file, "image");
    int H = 0, W = 0, end = 0;
    if (!image || sscanf(image, "%5dx%5d%n", &H, &W, &end) != 2 || image[end] || H < 1 || W < 1 ||
        H > MAX_SIDE || W > MAX_SIDE) {
        bad_tensor(c, "the metadata has no usable image size", "__metadata__");
        st_detail(c->err, ST_EXPECTED, "\"image\": \"HxW\", for example \"70x70\"");
        return st_detail(c->err, ST_GOT, "%s", image ? image : "nothing");
    }
    c->net->H = H;
    c->net->W = W;
    return ST_OK;
}

static enum st_code bad_metadata(const struct checker *c, const char *key, const char *expected,
                                 const char *got)
{
    st_fail(c->err, ST_BAD_FORMAT, "the metadata has an unusable '%s'", key);
    st_detail(c->err, ST_WHERE, "%s: __metadata__", c->path);
    st_detail(c->err, ST_EXPECTED, "%s", expected);
    st_detail(c->err, ST_GOT, "%s", got);
    return st_detail(c->err, ST_HINT, "see data/README.md for the course's networks");
}

static enum st_code check_activation(struct checker *c)
{
    const char *name = nn_safetensors_metadata(&c->net->file, "activation");
    c->net->activation = name && strcmp(name, "relu") == 0 ? NN_RELU : NN_TANH;
    if (name && c->net->activation == NN_TANH && strcmp(name, "tanh") != 0)
        return bad_metadata(c, "activation", "tanh or relu", name);
    return ST_OK;
}

/* Reads "2,4": the side of the windows per convolution; the default is 2. */
static enum st_code check_pool(struct checker *c)
{
    const char *text = nn_safetensors_metadata(&c->net->file, "pool");
    int convs = nn_safetensors_find(&c->net->file, "conv2.weight") ? 2 : 1;
    int first = 2, second = 2, end = 0;
    int read = !text        ? convs
               : convs == 1 ? sscanf(text, "%4d%n", &first, &end)
                            : sscanf(text, "%4d,%4d%n", &first, &second, &end);
    if (read != convs || (text && text[end]) || first < 1 || second < 1)
        return bad_metadata(c, "pool", convs == 1 ? "a side, such as 2" : "two sides, such as 2,4",
                            text);
    c->net->pool[0] = first;
    c->net->pool[1] = second;
    return ST_OK;
}

/* Checks convolution number @p layer over @p maps maps of H x W, and stores its pooled sizes in H
 and W.
 */
static enum st_code check_conv(struct checker *c, int layer, int *maps, int *H, int *W)
{
    char name[32], expected[128];
    const struct nn_tensor *t;
    snprintf(name, sizeof name, "conv%d.weight", layer + 1);
    enum st_code code = take_tensor(c, name, &t);
    if (code != ST_OK)
        return code;
    /* The output must be at least as large as a window; otherwise pooling would return nothing. */
    const int pool = c->net->pool[layer], side = *H < *W ? *H : *W;
    const size_t K_max = side >= pool ? (size_t)(side - pool + 1) : 0;
    if (t->dims != 4 || t->shape[0] < 1 || t->shape[0] > MAX_MAPS || t->shape[1] != (size_t)*maps ||
        t->shape[2] != t->shape[3] || t->shape[2] < 1 || t->shape[2] > K_max) {
        snprintf(expected, sizeof expected, "[M, %d, K, K] with K from 1 to %zu", *maps, K_max);
        return wrong_shape(c, t, expected);
    }
    struct conv_shape *s = &c->net->conv[layer];
    *s = (struct conv_shape){
        .M = (int)t->shape[0], .C = *maps, .H = *H, .W = *W, .K = (int)t->shape[2]};
    c->net->conv_weight[layer] = t->data;
    c->net->convs = layer + 1;
    *maps = s->M;
    *H = (*H - s->K + 1) / pool;
    *W = (*W - s->K + 1) / pool;
    return ST_OK;
}

/* Checks fully connected layer LAYER ("fc1") over @p inputs. @param outputs  0: any number up to
 * MAX_HIDDEN */
static enum st_code check_dense(struct checker *c, const char *layer, size_t inputs, size_t outputs)
{
    char name[32], expected[128];
    const struct nn_tensor *weight, *bias;
    snprintf(name, sizeof name, "%s.weight", layer);
    enum st_code code = take_tensor(c, name, &weight);
    snprintf(name, sizeof name, "%s.bias", layer);
    if (code == ST_OK)
        code = take_tensor(c, name, &bias);
    if (code != ST_OK)
        return code;
    if (!outputs && weight->dims == 2 && weight->shape[0] >= 1 && weight->shape[0] <= MAX_HIDDEN)
        outputs = weight->shape[0];
    if (weight->dims != 2 || !outputs || weight->shape[0] != outputs ||
        weight->shape[1] != inputs || inputs > INT_MAX) {
        shape_text(expected, sizeof expected, (size_t[]){outputs, inputs}, 2);
        if (!outputs)
            snprintf(expected, sizeof expected, "[N, %zu] with N from 1 to %d", inputs, MAX_HIDDEN);
        return wrong_shape(c, weight, expected);
    }
    if (bias->dims != 1 || bias->shape[0] != outputs) {
        shape_text(expected, sizeof expected, (size_t[]){outputs}, 1);
        return wrong_shape(c, bias, expected);
    }
    c->net->dense[c->net->denses++] =
        (struct nn_dense_layer){(int)inputs, (int)outputs, weight->data, bias->data};
    return ST_OK;
}

static enum st_code check_denses(struct checker *c, size_t features)
{
    if (!nn_safetensors_find(&c->net->file, "fc1.weight"))
        return check_dense(c, "fc", features, NN_CLASSES);
    enum st_code code = check_dense(c, "fc1", features, 0);
    if (code == ST_OK)
        code = check_dense(c, "fc2", (size_t)c->net->dense[0].outputs, NN_CLASSES);
    return code;
}

static enum st_code check_network(struct checker *c)
{
    enum st_code code = check_image(c);
    if (code == ST_OK)
        code = check_activation(c);
    if (code == ST_OK)
        code = check_pool(c);
    if (code != ST_OK)
        return code;
    int maps = 1, H = c->net->H, W = c->net->W;
    code = check_conv(c, 0, &maps, &H, &W);
    if (code == ST_OK && nn_safetensors_find(&c->net->file, "conv2.weight"))
        code = check_conv(c, 1, &maps, &H, &W);
    if (code == ST_OK)
        code = check_denses(c, (size_t)maps * H * W);
    if (code == ST_OK && c->used != c->net->file.tensors) {
        bad_tensor(c, "the file has tensors that the network does not use", "header");
        st_detail(c->err, ST_EXPECTED, "%zu tensors", c->used);
        return st_detail(c->err, ST_GOT, "%zu", c->net->file.tensors);
    }
    return code;
}

enum st_code nn_network_load(struct nn_network *net, const char *folder, const char *name,
                             struct st_error *err)
{
    struct st_error unwanted;
    char path[PATH_MAX];
    err = err ? err : &unwanted;
    *net = (struct nn_network){0};
    enum st_code code = find_model(folder, name, path, sizeof path, err);
    if (code == ST_OK)
        code = nn_safetensors_read(&net->file, path, err);
    if (code != ST_OK)
        return code;
    snprintf(net->name, sizeof net->name, "%s", name);
    struct checker checker = {.net = net, .path = path, .err = err};
    code = check_network(&checker);
    if (code != ST_OK)
        nn_network_free(net);
    return code;
}

void nn_network_free(struct nn_network *net)
{
    nn_safetensors_free(&net->file);
    *net = (struct nn_network){0};
}

/* ---- inference ------------------------------------------------------------------------------ */

size_t nn_network_pooled_elems(const struct nn_network *net, int layer, size_t B)
{
    const struct conv_shape *s = &net->conv[layer];
    const int side = net->pool[layer];
    return B * s->M * ((s->H - s->K + 1) / side) * ((s->W - s->K + 1) / side);
}

const char *nn_activation_name(enum nn_activation activation)
{
    return activation == NN_RELU ? "ReLU" : "tanh";
}

static void activate(const struct nn_network *net, float *values, size_t n)
{
    if (net->activation == NN_RELU)
        nn_relu(values, values, n);
    else
        nn_tanh(values, values, n);
}

void nn_network_activate(const struct nn_network *net, int layer, size_t B, const float *y,
                         float *pooled)
{
    const struct conv_shape *s = &net->conv[layer];
    nn_pool(y, pooled, B * s->M, s->H - s->K + 1, s->W - s->K + 1, net->pool[layer]);
    activate(net, pooled, nn_network_pooled_elems(net, layer, B));
}

static void dense(const struct nn_dense_layer *layer, const float *from, float *to, size_t batch)
{
    nn_dense(from, layer->weight, layer->bias, to, batch, layer->inputs, layer->outputs);
}

/* Softmax is omitted, because it does not change the order of the scores, nor the most likely
 * class. */
void nn_network_classify(const struct nn_network *net, size_t B, const float *pooled,
                         unsigned char *classes)
{
    enum { CHUNK = 250 };
    float hidden[CHUNK * MAX_HIDDEN], score[CHUNK * NN_CLASSES];
    for (size_t first = 0; first < B; first += CHUNK) {
        size_t count = B - first < CHUNK ? B - first : CHUNK;
        const float *inputs = pooled + first * net->dense[0].inputs;
        if (net->denses > 1) {
            dense(&net->dense[0], inputs, hidden, count);
            activate(net, hidden, count * net->dense[0].outputs);
            inputs = hidden;
        }
        dense(&net->dense[net->denses - 1], inputs, score, count);
        for (size_t b = 0; b < count; b++) {
            const float *s = score + b * NN_CLASSES;
            int best = 0;
            for (int o = 1; o < NN_CLASSES; o++)
                best = s[o] > s[best] ? o : best;
            classes[first + b] = (unsigned char)best;
        }
    }
}

static enum st_code no_memory(size_t elems, int layer, size_t B, struct st_error *err)
{
    st_fail(err, ST_NO_MEMORY, "not enough memory for the outputs of convolution %d", layer + 1);
    st_detail(err, ST_WHERE, "%zu images", B);
    return st_detail(err, ST_EXPECTED, "%.2f GB", elems * sizeof(float) / 1e9);
}

enum st_code nn_network_run(const struct nn_network *net, size_t B, const float *images,
                            nn_conv_function *conv, void *context, unsigned char *classes,
                            struct st_error *err)
{
    struct st_error unwanted;
    enum st_code code = ST_OK;
    float *y = NULL, *pooled = NULL;
    err = err ? err : &unwanted;
    const float *x = images; /* input of the current layer: the images, then a pooled tensor */
    if (B == 0)
        return ST_OK;
    if (B > INT_MAX) {
        st_fail(err, ST_TOO_LARGE, "too many images for one batch");
        st_detail(err, ST_EXPECTED, "at most %d", INT_MAX);
        return st_detail(err, ST_GOT, "%zu", B);
    }
    for (int layer = 0; layer < net->convs; layer++) {
        struct conv_shape s = net->conv[layer];
        s.B = (int)B;
        size_t pooled_elems = nn_network_pooled_elems(net, layer, B);
        y = malloc(nn_conv_y_elems(&s) * sizeof *y);
        if (!y) {
            code = no_memory(nn_conv_y_elems(&s), layer, B, err);
            goto cleanup;
        }
        int status = conv(context, layer, &s, x, net->conv_weight[layer], y);
        if (status != 0) {
            code = st_fail(err, ST_CHILD, "convolution %d returned %d", layer + 1, status);
            goto cleanup;
        }
        free(pooled); /* this layer's input is no longer needed */
        pooled = malloc(pooled_elems * sizeof *pooled);
        if (!pooled) {
            code = no_memory(pooled_elems, layer, B, err);
            goto cleanup;
        }
        nn_network_activate(net, layer, B, y, pooled);
        x = pooled;
        free(y);
        y = NULL;
    }
    nn_network_classify(net, B, x, classes);
cleanup:
    free(y);
    free(pooled);
    return code;
}

double nn_accuracy(const unsigned char *classes, const unsigned char *labels, size_t n)
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++)
        right += classes[i] == labels[i];
    return n ? (double)right / (double)n : 0;
}
