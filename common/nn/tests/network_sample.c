#include "nn/tests/network_sample.h"

#include "base/rng.h"
#include "base/tests/temp_folder.h"

#include <string.h>

TestSuite(network, .init = temp_folder_make, .fini = temp_folder_remove);

void model_make(struct model *m)
{
    struct rng r = rng_make(1, 0);
    *m = (struct model){.tensors = 4, .metadata = {{"image", "15x12"}}, .metadata_pairs = 1};
    rng_fill(&r, m->conv1, M1 * K * K, -0.5f, 0.5f);
    rng_fill(&r, m->conv2, M2 * M1 * K * K, -0.5f, 0.5f);
    rng_fill(&r, m->fc, NN_CLASSES * FEATURES, -1, 1);
    rng_fill(&r, m->bias, NN_CLASSES, -1, 1);
    m->tensor[0] = (struct nn_tensor){"conv1.weight", 4, {M1, 1, K, K}, M1 * K * K, m->conv1};
    m->tensor[1] = (struct nn_tensor){"conv2.weight", 4, {M2, M1, K, K}, M2 * M1 * K * K, m->conv2};
    m->tensor[2] =
        (struct nn_tensor){"fc.weight", 2, {NN_CLASSES, FEATURES}, NN_CLASSES * FEATURES, m->fc};
    m->tensor[3] = (struct nn_tensor){"fc.bias", 1, {NN_CLASSES}, NN_CLASSES, m->bias};
}

void model_make_relu(struct model *m)
{
    struct rng r = rng_make(5, 0);
    model_make(m);
    strcpy(m->metadata[0].value, "23x14");
    m->metadata[1] = (struct nn_metadata){"activation", "relu"};
    m->metadata[2] = (struct nn_metadata){"pool", "3,2"};
    m->metadata_pairs = 3;
    rng_fill(&r, m->fc1, HIDDEN * FEATURES, -1, 1);
    rng_fill(&r, m->fc2, NN_CLASSES * HIDDEN, -1, 1);
    rng_fill(&r, m->bias1, HIDDEN, -1, 1);
    m->tensor[2] =
        (struct nn_tensor){"fc1.weight", 2, {HIDDEN, FEATURES}, HIDDEN * FEATURES, m->fc1};
    m->tensor[3] = (struct nn_tensor){"fc1.bias", 1, {HIDDEN}, HIDDEN, m->bias1};
    m->tensor[4] =
        (struct nn_tensor){"fc2.weight", 2, {NN_CLASSES, HIDDEN}, NN_CLASSES * HIDDEN, m->fc2};
    m->tensor[5] = (struct nn_tensor){"fc2.bias", 1, {NN_CLASSES}, NN_CLASSES, m->bias};
    m->tensors = 6;
}

void model_write(const struct model *m, const char *name)
{
    struct st_error err = {0};
    enum st_code code = nn_safetensors_write(temp_path(name), m->tensor, m->tensors, m->metadata,
                                             m->metadata_pairs, &err);
    cr_assert(code == ST_OK, "%s", err.what);
}
