#include "runner/infer.h"

#include "nn/dataset.h"

#include <stdlib.h>

enum st_code infer_and_print(const char *model, size_t n, nn_conv_function *conv, void *context,
                             struct st_error *err)
{
    char folder[PATH_MAX], name[256];
    if (nn_model_place(model, folder, name, err))
        return err->code;
    struct nn_dataset set = {0};
    struct nn_network net = {0};
    float *images = NULL;
    unsigned char *classes = NULL;
    enum st_code code;

    printf("Loading fashion-mnist data...");
    fflush(stdout);
    if ((code = nn_dataset_load(&set, NULL, NN_TEST, n, err)))
        goto cleanup;
    printf(" done\nLoading model...");
    fflush(stdout);
    if ((code = nn_network_load(&net, folder, name, err)))
        goto cleanup;
    printf(" done\n");
    images = malloc(set.images * (size_t)net.H * (size_t)net.W * sizeof *images);
    classes = malloc(set.images);
    if (!images || !classes) {
        code = st_fail(err, ST_NO_MEMORY, "not enough memory for %zu images", set.images);
        goto cleanup;
    }
    nn_dataset_scale(&set, 0, set.images, net.H, net.W, images);
    printf("New Inference\n");
    fflush(stdout);
    if ((code = nn_network_run(&net, set.images, images, conv, context, classes, err)))
        goto cleanup;
    printf("Correctness: %.4g Model: %s\n", nn_accuracy(classes, set.labels, set.images), net.name);

cleanup:
    free(classes);
    free(images);
    nn_network_free(&net);
    nn_dataset_free(&set);
    return code;
}
