/* Finds and reads the data set's two files per split, and checks them against each other. idx.c
 * handles the format, scale.c the scaling. */
#include "nn/dataset.h"

#include "base/checkout.h"
#include "base/files.h"
#include "nn/idx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEBIAN_FOLDER "/usr/share/datasets/fashion-mnist"
#define VARIABLE      "CONVLAB_DATA"

static const char *const split_name[] = {[NN_TRAIN] = "train", [NN_TEST] = "t10k"};

const char *nn_dataset_folder(void)
{
    static char own[PATH_MAX];
    const char *folder = getenv(VARIABLE);
    if (folder && folder[0])
        return folder;
    struct st_error ignored;
    const char *root = checkout_root(&ignored);
    return root && path_format(own, sizeof own, "%s/data/fashion-mnist", root) && file_exists(own)
               ? own
               : DEBIAN_FOLDER;
}

/* Suggests the two remedies for a missing folder or file. */
static void add_hint(struct st_error *err)
{
    st_detail(err, ST_HINT,
              "install it: apt-get install dataset-fashion-mnist; or set " VARIABLE
              " to a folder with the four idx files");
}

/* A wrong folder is reported as such, not as four missing files. */
static enum st_code check_folder(const char *folder, struct st_error *err)
{
    const char *variable = getenv(VARIABLE);
    const char *who =
        variable && strcmp(folder, variable) == 0 ? VARIABLE : "the data set's folder";
    struct stat info;
    enum st_code code;
    if (stat(folder, &info)) {
        code = errno == ENOENT ? st_fail(err, ST_NOT_FOUND, "%s does not exist", who)
                               : st_fail_errno(err, errno, "cannot use %s", who);
    } else if (!S_ISDIR(info.st_mode)) {
        code = st_fail(err, ST_BAD_FORMAT, "%s is not a folder", who);
    } else {
        return ST_OK;
    }
    st_detail(err, ST_WHERE, "%s", folder);
    add_hint(err);
    return code;
}

/* Finds, for example, t10k-images-idx3-ubyte.gz in the folder, or the file without .gz. */
static enum st_code find_file(char path[PATH_MAX], const char *folder, enum nn_split split,
                              const char *kind, struct st_error *err)
{
    static const char *const suffix[] = {".gz", ""};
    for (int i = 0; i < 2; i++) {
        if (path_make(path, PATH_MAX, err, "%s/%s-%s-ubyte%s", folder, split_name[split], kind,
                      suffix[i]))
            return ST_TOO_LARGE;
        if (file_exists(path))
            return ST_OK;
    }
    st_fail(err, ST_NOT_FOUND, "a file of the data set is missing");
    st_detail(err, ST_WHERE, "%s.gz (or without .gz)", path);
    add_hint(err);
    return ST_NOT_FOUND;
}

static enum st_code check_labels(const char *path, const struct nn_idx *labels,
                                 struct st_error *err)
{
    for (size_t i = 0; i < labels->items; i++) {
        if (labels->data[i] >= NN_CLASSES) {
            st_fail(err, ST_BAD_FORMAT, "label is not a class");
            st_detail(err, ST_WHERE, "%s, label %zu", path, i);
            st_detail(err, ST_EXPECTED, "0 to %d", NN_CLASSES - 1);
            st_detail(err, ST_GOT, "%d", labels->data[i]);
            return ST_BAD_FORMAT;
        }
    }
    return ST_OK;
}

enum st_code nn_dataset_load(struct nn_dataset *set, const char *folder, enum nn_split split,
                             size_t limit, struct st_error *err)
{
    memset(set, 0, sizeof *set);
    if (!folder)
        folder = nn_dataset_folder();
    char images_path[PATH_MAX], labels_path[PATH_MAX];
    struct nn_idx images = {0}, labels = {0};
    enum st_code code = check_folder(folder, err);
    if (!code)
        code = find_file(images_path, folder, split, "images-idx3", err);
    if (!code)
        code = find_file(labels_path, folder, split, "labels-idx1", err);
    if (!code)
        code = nn_idx_read(&images, images_path, 3, limit, err);
    if (!code)
        code = nn_idx_read(&labels, labels_path, 1, limit, err);
    if (code)
        goto cleanup;
    if (images.items_in_file != labels.items_in_file) {
        code = st_fail(err, ST_BAD_FORMAT, "images and labels differ in number");
        st_detail(err, ST_WHERE, "%s", labels_path);
        st_detail(err, ST_EXPECTED, "%zu labels, one per image", images.items_in_file);
        st_detail(err, ST_GOT, "%zu", labels.items_in_file);
        goto cleanup;
    }
    code = check_labels(labels_path, &labels, err);
    if (code)
        goto cleanup;
    *set = (struct nn_dataset){.images = images.items,
                               .height = (int)images.size[0],
                               .width = (int)images.size[1],
                               .pixels = images.data,
                               .labels = labels.data};
    return ST_OK;
cleanup:
    nn_idx_free(&images);
    nn_idx_free(&labels);
    return code;
}

void nn_dataset_free(struct nn_dataset *set)
{
    free(set->pixels);
    free(set->labels);
    memset(set, 0, sizeof *set);
}
