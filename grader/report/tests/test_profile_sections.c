/* The sections of a profile, against a golden file; and profiles that are not whole. */
#include "grader/report/profile_sections.h"

#include "base/checkout.h"
#include "base/files.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *markdown(const char *folder)
{
    char *text;
    size_t bytes;
    int tables = 3;
    FILE *out = open_memstream(&text, &bytes);
    gr_profile_markdown(out, folder, &tables);
    fclose(out);
    return text;
}

static void golden_folder(char folder[PATH_MAX])
{
    struct st_error err;
    path_format(folder, PATH_MAX, "%s/common/analysis/tests/golden", checkout_root(&err));
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL);
    fputs(text, f);
    fclose(f);
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {"parts.tsv", "layers.tsv", "kernels.tsv", "time-100.txt"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_format(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* CONVLAB_ACCEPT=1 writes the golden file anew. */
Test(profile_sections, are_as_they_were)
{
    char folder[PATH_MAX], path[PATH_MAX], *expected;
    struct st_error err;
    size_t bytes;
    golden_folder(folder);
    path_format(path, sizeof path, "%s/grader/report/tests/golden", checkout_root(&err));
    char *text = markdown(folder);
    if (getenv("CONVLAB_ACCEPT"))
        put(path, "profile-sections.md", text);
    path_format(path, sizeof path, "%s/grader/report/tests/golden/profile-sections.md",
                checkout_root(&err));
    cr_assert_eq(file_read(path, 1 << 20, &expected, &bytes, &err), ST_OK, "%s", path);
    cr_expect_str_eq(text, expected);
    free(expected);
    free(text);
}

Test(profile_sections, of_a_folder_without_a_profile_are_nothing)
{
    char *text = markdown("/nonexistent/profile");
    cr_expect_str_eq(text, "");
    free(text);
}

Test(profile_sections, on_the_cpu_have_times_and_say_why_there_is_no_more)
{
    char folder[] = "/tmp/convlab-sections-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    put(folder, "parts.tsv",
        "images\tdevice\tpart\tstate\treason\n100\tcpu\ttime\there\t\n"
        "100\tcpu\ttrace\tabsent\tthere is | no GPU\n100\tcpu\tlines\tabsent\tthere is | no GPU\n");
    put(folder, "layers.tsv",
        "images\tdevice\tlayer\top_time_s\telapsed_s\tcorrectness\n100\tcpu\t1\t0.25\t1.5\t0.9\n");
    put(folder, "time-100.txt", "1.00user 0.10system 0:01.10elapsed 100%CPU\n");
    char *text = markdown(folder);
    const char *said = text;
    int times = 0;
    for (; (said = strstr(said, "there is &#124; no GPU")); said++)
        times++;
    cr_expect_eq(times, 1, "the reason once, harmless");
    cr_expect(strstr(text, "| Op Time of layer 1 (CPU) | 250.00ms |"), "%s", text);
    cr_expect(strstr(text, "0:01.10elapsed"), "%s", text);
    cr_expect(!strstr(text, "API calls"), "%s", text);
    free(text);
    remove_folder(folder);
}

Test(profile_sections, with_a_damaged_table_say_so)
{
    char folder[] = "/tmp/convlab-sections-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    put(folder, "parts.tsv", "images\tdevice\tpart\tstate\treason\n100\tvirtual\ttime\there\t\n");
    put(folder, "kernels.tsv", "images\tkind\tkernel\tcalls\n100\tkernel\n");
    char *text = markdown(folder);
    cr_expect(strstr(text, "cannot be read"), "%s", text);
    cr_expect(strstr(text, "kernels.tsv"), "%s", text);
    free(text);
    remove_folder(folder);
}

Test(profile_sections, have_names_for_templates)
{
    cr_expect_eq(gr_profile_section_named("limits"), GR_PROFILE_LIMITS);
    cr_expect_eq(gr_profile_section_named("no such"), GR_PROFILE_SECTIONS);
}
