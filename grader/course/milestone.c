#include "grader/course/milestone.h"

#include "base/checkout.h"
#include "base/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 4 };

/* The length of the milestone's id at the beginning of a text; 0: there is none. */
static size_t id_length(const char *text)
{
    const bool known = text[0] && exercise_of(text)->letter == text[0];
    const size_t digits = known ? strspn(text + 1, "0123456789") : 0;
    return digits >= 1 && digits <= DIGITS_MAX ? 1 + digits : 0;
}

int gr_milestone_number(const char *id)
{
    const size_t length = id_length(id);
    return length && !id[length] ? atoi(id + 1) : -1;
}

static int is_milestone(const struct dirent *entry)
{
    return gr_milestone_number(entry->d_name) >= 0;
}

/* Orders by number; the milestones of the first exercise come first. */
static int in_order(const struct dirent **a, const struct dirent **b)
{
    const char first = exercise_at(0)->letter;
    const int other = ((*a)->d_name[0] != first) - ((*b)->d_name[0] != first);
    return other ? other : versionsort(a, b);
}

int gr_milestone_folders(const char *folder, struct dirent ***entries)
{
    return scandir(folder, entries, is_milestone, in_order);
}

/* Whether an entry is a folder of labs/: "m1-cpu-conv". */
static int is_folder(const struct dirent *entry)
{
    const size_t length = id_length(entry->d_name);
    return length && entry->d_name[length] == '-';
}

enum st_code gr_milestone_find(struct gr_milestone *milestone, const char *id, struct st_error *err)
{
    memset(milestone, 0, sizeof *milestone);
    const char *root = checkout_root(err), *build = checkout_build(err);
    if (!root || !build)
        return err->code;
    char labs[PATH_MAX], known[200] = "", twice[sizeof milestone->folder] = "";
    path_format(labs, sizeof labs, "%s/labs", root);
    struct dirent **entries;
    int n = scandir(labs, &entries, is_folder, in_order);
    if (n < 0) {
        st_fail(err, ST_NOT_FOUND, "cannot read the folder of labs");
        return st_detail(err, ST_WHERE, "%s", labs);
    }
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        int length = (int)strcspn(name, "-");
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%.*s", used ? ", " : "", length, name);
        if ((int)strlen(id) == length && strncmp(name, id, (size_t)length) == 0) {
            snprintf(twice, sizeof twice, "%s", milestone->folder);
            snprintf(milestone->folder, sizeof milestone->folder, "%s", name);
            snprintf(milestone->id, sizeof milestone->id, "%s", id);
        }
        free(entries[i]);
    }
    free(entries);
    if (!milestone->id[0]) {
        st_fail(err, ST_USAGE, "unknown milestone");
        st_detail(err, ST_EXPECTED, "%s", known);
        return st_detail(err, ST_GOT, "%s", id);
    }
    const char *folder = milestone->folder;
    if (twice[0]) {
        st_fail(err, ST_BAD_FORMAT, "two folders have the same milestone");
        st_detail(err, ST_WHERE, "%s", labs);
        st_detail(err, ST_GOT, "%s and %s", twice, folder);
        return st_detail(err, ST_HINT, "give one of them another number, or move it");
    }
    milestone->exercise = exercise_of(id);
    milestone->libraries = strcmp(milestone->id, "m0") == 0;
    path_format(milestone->rubric, PATH_MAX, "%s/labs/%s/rubric.yaml", root, folder);
    /* reference/ is searched too, because a student may have removed the skeleton. */
    char cuda[2][PATH_MAX];
    const char *file = milestone->exercise->file, *source = milestone->file;
    path_format(cuda[0], PATH_MAX, "%s/labs/%s/%s.cu", root, folder, file);
    path_format(cuda[1], PATH_MAX, "%s/reference/%s/%s.cu", root, folder, file);
    milestone->cuda = file_exists(cuda[0]) || file_exists(cuda[1]);
    snprintf(milestone->file, sizeof milestone->file, "%s.%s", file, milestone->cuda ? "cu" : "c");
    path_format(milestone->lab_source, PATH_MAX, "%s/labs/%s/%s", root, folder, source);
    path_format(milestone->lab_library, PATH_MAX, "%s/labs/%s/libconv.so", build, id);
    path_format(milestone->reference_source, PATH_MAX, "%s/reference/%s/%s", root, folder, source);
    path_format(milestone->reference_library, PATH_MAX, "%s/reference/%s/libconv.so", build, id);
    path_format(milestone->plain_library, PATH_MAX, "%s/reference/%s/libconv-plain.so", build, id);
    return ST_OK;
}
