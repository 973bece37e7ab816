#include "data/train/train_expected.h"

#include "base/files.h"
#include "base/progress.h"
#include "base/tsv.h"
#include "data/train/train_model.h"
#include "nn/oracle.h"

#include <stdlib.h>

static const size_t sizes[] = {100, 1000, 10000};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST_IMAGES = 10000, CHUNK = 1000 };

static int oracle(void *context, int layer, const struct conv_shape *shape, const float *x,
                  const float *k, float *y)
{
    (void)context, (void)layer;
    nn_oracle_conv(shape, x, k, y);
    return 0;
}

/* Classes of the first MOST_IMAGES test images, in chunks that bound the memory needed. */
static enum st_code classify(const struct nn_network *net, const struct nn_dataset *test,
                             unsigned char *classes, struct st_error *err)
{
    enum st_code code = ST_OK;
    float *images = malloc((size_t)CHUNK * net->H * net->W * sizeof *images);
    if (!images)
        return st_fail(err, ST_NO_MEMORY, "not enough memory for %d images", CHUNK);
    for (size_t first = 0; first < MOST_IMAGES && code == ST_OK; first += CHUNK) {
        nn_dataset_scale(test, first, CHUNK, net->H, net->W, images);
        code = nn_network_run(net, CHUNK, images, oracle, NULL, classes + first, err);
        progress_show("accuracy", first + CHUNK, MOST_IMAGES);
    }
    progress_clear();
    free(images);
    return code;
}

static enum st_code write_model(FILE *out, const char *dir, const char *name,
                                const struct nn_dataset *test, struct st_error *err)
{
    static unsigned char classes[MOST_IMAGES];
    struct nn_network net;
    enum st_code code = nn_network_load(&net, dir, name, err);
    if (code == ST_OK)
        code = classify(&net, test, classes, err);
    for (int i = 0; i < SIZES && code == ST_OK; i++) {
        char images[16], accuracy[16];
        snprintf(images, sizeof images, "%zu", sizes[i]);
        snprintf(accuracy, sizeof accuracy, "%.4f", nn_accuracy(classes, test->labels, sizes[i]));
        tsv_write_row(out, 3, (const char *[]){name, images, accuracy});
    }
    nn_network_free(&net);
    return code;
}

enum st_code train_expected_write(const char *dir, const struct nn_dataset *test,
                                  struct st_error *err)
{
    char path[PATH_MAX];
    struct file_out out;
    if (test->images < MOST_IMAGES) {
        st_fail(err, ST_TRUNCATED, "too few test images");
        st_detail(err, ST_EXPECTED, "%d", MOST_IMAGES);
        st_detail(err, ST_GOT, "%zu", test->images);
        return ST_TRUNCATED;
    }
    if (!path_format(path, sizeof path, "%s/expected.tsv", dir))
        return st_fail(err, ST_USAGE, "the path of the output folder is too long");
    enum st_code code = file_out_open(&out, path, err);
    if (code != ST_OK)
        return code;
    tsv_write_row(out.f, 3, (const char *[]){"model", "images", "accuracy"});
    for (int i = 0; i < TRAIN_RECIPES && code == ST_OK; i++) {
        char model[PATH_MAX];
        if (path_format(model, sizeof model, "%s/%s.safetensors", dir, train_recipes[i].name) &&
            file_exists(model))
            code = write_model(out.f, dir, train_recipes[i].name, test, err);
    }
    if (code == ST_OK)
        return file_out_commit(&out, err);
    file_out_abort(&out);
    return code;
}
