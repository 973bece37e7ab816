#include "vgpu/gpus/gpu_profile.h"

#include "base/files.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "common/vgpu/gpus"

Test(profile, all_that_come_with_the_suite_can_be_read)
{
    const struct {
        const char *name;
        int major, minor, multiprocessors;
    } known[] = {{"h200", 9, 0, 132},    {"h100", 9, 0, 132},          {"a40", 8, 6, 84},
                 {"a10g", 8, 6, 80},     {"rtx-3060", 8, 6, 28},       {"t4", 7, 5, 40},
                 {"rtx-2080", 7, 5, 46}, {"v100", 7, 0, 80},           {"titan-v", 7, 0, 80},
                 {"k80", 3, 7, 13},      {"rtx-4060-laptop", 8, 9, 24}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct vg_profile p;
        struct st_error err;
        cr_assert_eq(vg_profile_read(&p, FOLDER, known[i].name, &err), ST_OK, "%s", err.what);
        cr_assert_str_eq(p.name, known[i].name);
        cr_assert_eq(p.compute_major, known[i].major);
        cr_assert_eq(p.compute_minor, known[i].minor);
        cr_assert_eq(p.multiprocessors, known[i].multiprocessors);
        cr_assert_gt(p.clock_hz, 5e8);
        cr_assert_gt(p.dram_bytes_per_s, 1e11);
    }
}

Test(profile, an_unknown_name_lists_the_known_names)
{
    struct vg_profile p;
    struct st_error err;
    cr_assert_eq(vg_profile_read(&p, FOLDER, "gtx-9999", &err), ST_NOT_FOUND);
    cr_assert(strstr(
        err.hint,
        "a10g, a40, h100, h200, k80, rtx-2080, rtx-3060, rtx-4060-laptop, t4, titan-v, v100"));
}

/* Reads the H200's profile with one line replaced. */
static enum st_code read_changed(const char *line, const char *by, struct st_error *err)
{
    char path[] = "/tmp/convlab-profile-XXXXXX";
    int fd = mkstemp(path);
    char *text;
    size_t bytes;
    cr_assert_eq(file_read(FOLDER "/h200.yaml", 1 << 20, &text, &bytes, err), ST_OK);
    FILE *out = fdopen(fd, "w");
    for (char *at = text; *at;) {
        size_t n = strcspn(at, "\n") + 1;
        if (strncmp(at, line, strlen(line)) == 0)
            fprintf(out, "%s\n", by);
        else
            fwrite(at, 1, n, out);
        at += n;
    }
    fclose(out);
    struct vg_profile p;
    enum st_code code = vg_profile_read(&p, FOLDER, path, err);
    unlink(path);
    free(text);
    return code;
}

Test(profile, errors_name_the_line)
{
    struct st_error err;
    cr_assert_eq(read_changed("l2_bytes:", "l2_bytes: many", &err), ST_BAD_FORMAT);
    cr_assert(strstr(err.where, ":2"), "%s", err.where);
    cr_assert(strstr(err.what, "many"), "%s", err.what);
    cr_assert_eq(read_changed("l2_bytes:", "l3_bytes: 1", &err), ST_BAD_FORMAT);
    cr_assert(strstr(err.what, "l3_bytes"), "%s", err.what);
    cr_assert_eq(read_changed("l2_bytes:", "", &err), ST_BAD_FORMAT);
    cr_assert(strstr(err.what, "l2_bytes"), "%s", err.what);
    cr_assert_eq(read_changed("clock_hz:", "clock_hz: -1", &err), ST_BAD_FORMAT);
    cr_assert(strstr(err.what, "clock_hz"), "%s", err.what);
    cr_assert_eq(read_changed("clock_hz:", "clock_hz: [", &err), ST_BAD_FORMAT);
}
