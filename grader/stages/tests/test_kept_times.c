/* Tests of kept modelled times: exactly the kept value is found, and only while everything on which
 * it depends is unchanged. */
#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "grader/stages/kept_times.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static float weights[25] = {1, 2, 3};
static const struct gr_conv conv = {.shape = {100, 1, 1, 9, 9, 5}, .k = weights};
static struct gr_host host;

static const char *put(const char *name, const char *text)
{
    return temp_file(name, text, strlen(text));
}

static struct gr_kept_times open_times(void)
{
    struct gr_kept_times kept;
    gr_kept_times_open(&kept, &host, temp_path("libconv.so"));
    return kept;
}

/* Creates a build folder with all files that are part of a key. */
static void set_up(void)
{
    struct st_error err;
    temp_folder_make();
    cr_assert_eq(dir_make(temp_path("vgpu/profiles"), &err), ST_OK);
    put("libconv.so", "library");
    put("vgpu-device", "device");
    put("vgpu/libcudart.so.13", "runtime");
    put("vgpu/profiles/h200.yaml", "an H200");
    put("vgpu/profiles/k80.yaml", "a K80");
    host = (struct gr_host){.profile = "h200"};
    snprintf(host.build, sizeof host.build, "%s", temp_folder);
    snprintf(host.runner, sizeof host.runner, "%s", put("runner", "runner"));
}

static bool is_found(double *seconds)
{
    const struct gr_kept_times kept = open_times();
    return gr_kept_time_find(&kept, &conv, seconds);
}

static void keep(double seconds)
{
    const struct gr_kept_times kept = open_times();
    gr_kept_time_add(&kept, &conv, seconds);
}

TestSuite(kept_times, .init = set_up, .fini = temp_folder_remove);

Test(kept_times, are_found_again_to_the_last_bit)
{
    const double odd = 1.2027600000000001e-4 / 3;
    double seconds;
    cr_assert(!is_found(&seconds));
    keep(odd);
    cr_assert(is_found(&seconds));
    cr_assert_eq(seconds, odd);
}

Test(kept_times, are_of_one_convolution_with_its_weights)
{
    double seconds;
    keep(1);
    const struct gr_kept_times kept = open_times();
    struct gr_conv other = conv;
    other.shape.B++;
    cr_expect(!gr_kept_time_find(&kept, &other, &seconds));
    gr_kept_time_add(&kept, &other, 2);
    cr_expect(gr_kept_time_find(&kept, &other, &seconds) && seconds == 2);
    cr_expect(is_found(&seconds) && seconds == 1, "the other one still exists");
    weights[24] = 1;
    cr_expect(!is_found(&seconds));
    weights[24] = 0;
}

Test(kept_times, count_no_more_when_a_file_that_they_depend_on_has_changed)
{
    static const char *const files[] = {"libconv.so", "vgpu-device", "vgpu/libcudart.so.13",
                                        "vgpu/profiles/h200.yaml", "runner"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        double seconds;
        keep(1);
        cr_assert(is_found(&seconds));
        put(files[i], "another");
        cr_expect(!is_found(&seconds), "%s", files[i]);
    }
}

Test(kept_times, are_of_one_gpu_and_one_engine)
{
    double seconds;
    keep(1);
    snprintf(host.profile, sizeof host.profile, "k80");
    cr_expect(!is_found(&seconds));
    snprintf(host.profile, sizeof host.profile, "h200");
    host.engine = "interpreter";
    cr_expect(!is_found(&seconds));
    host.engine = NULL;
    cr_expect(is_found(&seconds));
}

Test(kept_times, are_not_read_from_missing_or_foreign_tables)
{
    double seconds;
    keep(1);
    put("modelled-times.tsv", "key\timages\nx\t1\n");
    cr_expect(!is_found(&seconds));
    keep(2);
    cr_expect(is_found(&seconds) && seconds == 2, "a table that is none of ours is replaced");
    remove(put("vgpu-device", ""));
    cr_expect(!is_found(&seconds));
    keep(3);
    put("vgpu-device", "device");
    cr_expect(is_found(&seconds) && seconds == 2, "without the device process nothing is kept");
}

Test(kept_times, make_no_table_that_grows_for_ever)
{
    double seconds;
    const struct gr_kept_times kept = open_times();
    struct gr_conv other = conv;
    keep(1);
    for (other.shape.B = 101; other.shape.B < 220; other.shape.B++)
        gr_kept_time_add(&kept, &other, other.shape.B);
    cr_expect(!is_found(&seconds));
    other.shape.B = 219;
    cr_expect(gr_kept_time_find(&kept, &other, &seconds) && seconds == 219);
    other.shape.B = 130;
    cr_expect(gr_kept_time_find(&kept, &other, &seconds) && seconds == 130);
}
