/* Tests of loading networks: accepted files, and the error of each wrong file. */
#include "nn/tests/network_sample.h"

#include "base/tests/temp_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct nn_tensor *find(struct model *m, const char *name)
{
    for (size_t i = 0; i < m->tensors; i++)
        if (strcmp(m->tensor[i].name, name) == 0)
            return &m->tensor[i];
    return NULL;
}

/* Writes the model, loads it, and expects an error whose fields contain these texts. */
static void expect_refused(const struct model *m, const char *what, const char *where,
                           const char *expected, const char *got)
{
    struct nn_network net;
    struct st_error err = {0};
    model_write(m, "spoilt.safetensors");
    enum st_code code = nn_network_load(&net, temp_folder, "spoilt", &err);
    cr_expect(code == ST_BAD_FORMAT, "accepted, or refused with code %d: %s", code, err.what);
    cr_expect(strstr(err.what, what), "what: %s", err.what);
    cr_expect(strstr(err.where, "spoilt.safetensors") && strstr(err.where, where), "where: %s",
              err.where);
    cr_expect(strstr(err.expected, expected), "expected: %s", err.expected);
    cr_expect(strstr(err.got, got), "got: %s", err.got);
    cr_expect(err.hint[0]);
    cr_expect(net.convs == 0 && net.file.tensors == 0, "the network is not zeroed");
    cr_expect(nn_network_load(&net, temp_folder, "spoilt", NULL) == ST_BAD_FORMAT);
}

Test(network, takes_its_shapes_from_the_file)
{
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "small.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "small", &err) == ST_OK, "%s", err.what);
    const struct conv_shape first = {0, M1, 1, H, W, K}, second = {0, M2, M1, 6, 5, K};
    cr_expect_str_eq(net.name, "small");
    cr_expect(net.H == H && net.W == W && net.convs == 2 && net.denses == 1 &&
              net.dense[0].inputs == FEATURES);
    cr_expect(memcmp(&net.conv[0], &first, sizeof first) == 0);
    cr_expect(memcmp(&net.conv[1], &second, sizeof second) == 0);
    cr_expect(memcmp(net.conv_weight[1], m.conv2, sizeof m.conv2) == 0);
    cr_expect(memcmp(net.dense[0].weight, m.fc, sizeof m.fc) == 0);
    cr_expect(memcmp(net.dense[0].bias, m.bias, sizeof m.bias) == 0);
    nn_network_free(&net);
    nn_network_free(&net); /* harmless */
    cr_expect(net.pool[0] == 0);
}

Test(network, takes_activation_pooling_and_a_hidden_layer_from_the_file)
{
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "plain.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "plain", &err) == ST_OK, "%s", err.what);
    cr_expect(net.activation == NN_TANH && net.pool[0] == 2 && net.pool[1] == 2);
    cr_expect_eq(nn_network_pooled_elems(&net, 1, 3), 3 * FEATURES);
    nn_network_free(&net);

    model_make_relu(&m);
    model_write(&m, "relu.safetensors");
    cr_assert(nn_network_load(&net, temp_folder, "relu", &err) == ST_OK, "%s: %s", err.what,
              err.where);
    const struct conv_shape second = {0, M2, M1, 7, 4, K};
    cr_expect(net.activation == NN_RELU && net.pool[0] == 3 && net.pool[1] == 2);
    cr_expect(memcmp(&net.conv[1], &second, sizeof second) == 0);
    cr_expect(net.denses == 2 && net.dense[0].inputs == M2 * 2 && net.dense[0].outputs == HIDDEN);
    cr_expect(net.dense[1].inputs == HIDDEN && net.dense[1].outputs == NN_CLASSES);
    cr_expect(memcmp(net.dense[1].weight, m.fc2, sizeof m.fc2) == 0);
    cr_expect_str_eq(nn_activation_name(net.activation), "ReLU");
    nn_network_free(&net);
}

Test(network, that_is_missing_is_reported_with_the_existing_ones)
{
    struct model m;
    struct nn_network net;
    struct st_error err = {0};
    model_make(&m);
    model_write(&m, "beta.safetensors");
    model_write(&m, "alpha.safetensors");
    temp_file("expected.tsv", "", 0);
    cr_expect(nn_network_load(&net, temp_folder, "gamma", &err) == ST_NOT_FOUND);
    cr_expect(strstr(err.what, "'gamma'"), "%s", err.what);
    cr_expect_str_eq(err.where, temp_folder);
    cr_expect_str_eq(err.hint, "models in this folder: alpha, beta");

    /* A name cannot lead out of the folder. */
    cr_expect(nn_network_load(&net, temp_folder, "../x/alpha", &err) == ST_NOT_FOUND);
    cr_expect(nn_network_load(&net, temp_folder, "", &err) == ST_NOT_FOUND);
    cr_expect(nn_network_load(&net, temp_path("no-folder"), "alpha", &err) == ST_NOT_FOUND);
    cr_expect(strstr(err.hint, "make models"), "%s", err.hint);
    cr_expect(nn_network_load(&net, temp_folder, "gamma", NULL) == ST_NOT_FOUND);
}

Test(network, needs_an_image_size)
{
    static const char *const sizes[] = {"",       "70",     "70x",     "x70",     "0x70",
                                        "-70x70", "70x70x", "70 x 70", "9999x70", "axb"};
    struct model m;
    model_make(&m);
    m.metadata_pairs = 0;
    expect_refused(&m, "no usable image size", "__metadata__", "70x70", "nothing");
    m.metadata_pairs = 1;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(m.metadata[0].value, sizeof m.metadata[0].value, "%s", sizes[i]);
        expect_refused(&m, "no usable image size", "__metadata__", "70x70", sizes[i]);
    }
}

Test(network, refuses_shapes_that_do_not_follow_from_the_layers_before)
{
    struct model m;
    model_make(&m);
    *find(&m, "conv1.weight") = (struct nn_tensor){"conv1.weight", 3, {M1, K, K}, 27, m.conv1};
    expect_refused(&m, "wrong shape", "conv1.weight", "[M, 1, K, K] with K from 1 to 11",
                   "[3, 3, 3]");

    model_make(&m);
    *find(&m, "conv1.weight") = (struct nn_tensor){"conv1.weight", 4, {1, 3, K, K}, 27, m.conv1};
    expect_refused(&m, "wrong shape", "conv1.weight", "[M, 1, K, K]", "[1, 3, 3, 3]");

    model_make(&m); /* a filter that is not square */
    *find(&m, "conv1.weight") = (struct nn_tensor){"conv1.weight", 4, {3, 1, 9, 1}, 27, m.conv1};
    expect_refused(&m, "wrong shape", "conv1.weight", "[M, 1, K, K]", "[3, 1, 9, 1]");

    model_make(&m); /* conv2's input maps are not as many as conv1's output maps */
    *find(&m, "conv2.weight") =
        (struct nn_tensor){"conv2.weight", 4, {M1, M2, K, K}, M1 * M2 * K * K, m.conv2};
    expect_refused(&m, "wrong shape", "conv2.weight", "[M, 3, K, K]", "[3, 4, 3, 3]");

    model_make(&m); /* the weights require another image size */
    strcpy(m.metadata[0].value, "16x16");
    expect_refused(&m, "wrong shape", "fc.weight", "[10, 16]", "[10, 8]");

    model_make(&m); /* images too small for both layers */
    strcpy(m.metadata[0].value, "15x8");
    expect_refused(&m, "wrong shape", "conv2.weight", "K from 1 to 2", "[4, 3, 3, 3]");

    model_make(&m);
    *find(&m, "fc.bias") = (struct nn_tensor){"fc.bias", 1, {9}, 9, m.bias};
    expect_refused(&m, "wrong shape", "fc.bias", "[10]", "[9]");
}

Test(network, refuses_unknown_activations_and_windows)
{
    static const char *const pools[] = {"", "2", "2,", ",2", "2,x", "0,2", "2,-2", "2,2,2", "2;2"};
    struct model m;
    model_make_relu(&m);
    strcpy(m.metadata[1].value, "sigmoid");
    expect_refused(&m, "unusable 'activation'", "__metadata__", "tanh or relu", "sigmoid");

    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        model_make_relu(&m);
        strcpy(m.metadata[2].value, pools[i]);
        expect_refused(&m, "unusable 'pool'", "__metadata__", "two sides, such as 2,4", pools[i]);
    }
    model_make_relu(&m);
    strcpy(m.metadata[2].value, "3,9"); /* window larger than its input */
    expect_refused(&m, "wrong shape", "conv2.weight", "K from 1 to 0", "[4, 3, 3, 3]");
}

Test(network, refuses_a_hidden_layer_that_does_not_fit)
{
    static float many[1025 * FEATURES];
    struct model m;
    model_make_relu(&m);
    *find(&m, "fc1.weight") =
        (struct nn_tensor){"fc1.weight", 2, {FEATURES, HIDDEN}, HIDDEN * FEATURES, m.fc1};
    expect_refused(&m, "wrong shape", "fc1.weight", "[8, 8]", "[8, 5]");

    model_make_relu(&m);
    *find(&m, "fc1.weight") =
        (struct nn_tensor){"fc1.weight", 2, {1025, FEATURES}, 1025 * FEATURES, many};
    expect_refused(&m, "wrong shape", "fc1.weight", "N from 1 to 1024", "[1025, 8]");

    model_make_relu(&m);
    *find(&m, "fc2.weight") =
        (struct nn_tensor){"fc2.weight", 2, {HIDDEN, NN_CLASSES}, NN_CLASSES * HIDDEN, m.fc2};
    expect_refused(&m, "wrong shape", "fc2.weight", "[10, 5]", "[5, 10]");

    model_make_relu(&m);
    *find(&m, "fc1.bias") = (struct nn_tensor){"fc1.bias", 1, {HIDDEN - 1}, HIDDEN - 1, m.bias1};
    expect_refused(&m, "wrong shape", "fc1.bias", "[5]", "[4]");

    model_make_relu(&m);
    m.tensors = 4;
    expect_refused(&m, "missing", "fc2.weight", "", "");

    model_make_relu(&m); /* names of both kinds of networks */
    strcpy(find(&m, "fc2.weight")->name, "fc.weight");
    expect_refused(&m, "missing", "fc2.weight", "", "");
}

Test(network, refuses_missing_and_additional_tensors_and_weights_that_are_not_numbers)
{
    struct model m;
    model_make(&m);
    strcpy(find(&m, "conv1.weight")->name, "conv.weight");
    expect_refused(&m, "missing", "conv1.weight", "", "");

    model_make(&m);
    m.tensors = 3;
    expect_refused(&m, "missing", "fc.bias", "", "");

    model_make(&m);
    m.tensor[m.tensors++] = (struct nn_tensor){"conv3.weight", 1, {9}, 9, m.conv1};
    expect_refused(&m, "does not use", "header", "4 tensors", "5");

    model_make(&m);
    m.conv2[5] = NAN;
    expect_refused(&m, "not a finite number", "conv2.weight", "", "nan at element 5");

    model_make(&m);
    m.fc[7] = -INFINITY;
    expect_refused(&m, "not a finite number", "fc.weight", "", "-inf at element 7");
}

Test(network, is_found_by_its_name_or_by_the_path_of_a_file)
{
    static const struct {
        const char *model, *folder, *name;
    } cases[] = {{"two-layer", "/data/models", "two-layer"},
                 {"private/two-layer.safetensors", "private", "two-layer"},
                 {"/private/x", "/private", "x"},
                 {"mine.safetensors", ".", "mine"},
                 {".safetensors", "/data/models", ".safetensors"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[PATH_MAX], name[256];
        struct st_error err;
        cr_assert_eq(nn_model_place(cases[i].model, folder, name, &err), ST_OK);
        const size_t n = strlen(folder), m = strlen(cases[i].folder);
        cr_expect(n >= m && strcmp(folder + n - m, cases[i].folder) == 0, "%s: %s", cases[i].model,
                  folder);
        cr_expect_str_eq(name, cases[i].name);
    }
}
