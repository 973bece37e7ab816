/* Tests of the profile on the page of a grading, against a golden file; and of incomplete
 * profiles. */
#include "report_fixture.h"

#include "base/tests/test_text.h"
#include "grader/report/report_parts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(profile_sections, .init = folder_make, .fini = folder_remove);

/* @return the text about the profile in the folder "profile", taken from the page of a grading */
static char *markdown(void)
{
    static struct gr_result result;
    char *text, *from, *to;
    struct st_error err;
    strcpy(result.course_lines, "output");
    PRINTED(text, cr_assert_eq(gr_page_write(out, &result, NULL, NULL, in_folder("."), &err), ST_OK,
                               "%s", err.what));
    from = strstr(text, "## Profile"), to = strstr(text, "## Output");
    cr_assert(to && (!from || from < to));
    char *part = from ? strndup(from, (size_t)(to - from)) : strdup("");
    free(text);
    return part;
}

/* CONVLAB_ACCEPT=1 rewrites the golden file. */
Test(profile_sections, are_as_they_were)
{
    cr_assert_eq(symlink(checkout_file("common/analysis/tests/golden"), in_folder("profile")), 0);
    char *text = markdown();
    expect_golden(checkout_file("grader/report/tests/golden/profile-sections.md"), text);
    free(text);
}

Test(profile_sections, of_a_folder_without_a_profile_are_nothing)
{
    char *text = markdown();
    cr_expect_str_eq(text, "");
    free(text);
}

Test(profile_sections, on_the_cpu_have_times_and_the_reason_why_the_rest_is_missing)
{
    mkdir(in_folder("profile"), 0777);
    write_text("profile/parts.tsv", "images\tdevice\tpart\tstate\treason\n100\tcpu\ttime\there\t\n"
                                    "100\tcpu\ttrace\tabsent\tthere is | no GPU\n"
                                    "100\tcpu\tlines\tabsent\tthere is | no GPU\n");
    write_text("profile/layers.tsv", "images\tdevice\tlayer\top_time_s\telapsed_s\tcorrectness\n"
                                     "100\tcpu\t1\t0.25\t1.5\t0.9\n");
    write_text("profile/time-100.txt", "1.00user 0.10system 0:01.10elapsed 100%CPU\n");
    char *text = markdown();
    cr_expect_eq(count(text, "there is &#124; no GPU"), 1, "the reason once, harmless");
    cr_expect(strstr(text, "| Op Time of layer | Device | 100 images |"), "%s", text);
    cr_expect(strstr(text, "| 1 | cpu | 250.00ms |"), "%s", text);
    cr_expect(strstr(text, "| cpu | 1.50000s |"), "%s", text);
    cr_expect(strstr(text, "0:01.10elapsed"), "%s", text);
    cr_expect(!strstr(text, "API calls"), "%s", text);
    free(text);
}

Test(profile_sections, with_a_damaged_table_say_so)
{
    mkdir(in_folder("profile"), 0777);
    write_text("profile/parts.tsv",
               "images\tdevice\tpart\tstate\treason\n100\tvirtual\ttime\there\t\n");
    write_text("profile/kernels.tsv", "images\tkind\tkernel\tcalls\n100\tkernel\n");
    char *text = markdown();
    cr_expect(strstr(text, "cannot be read"), "%s", text);
    cr_expect(strstr(text, "kernels.tsv"), "%s", text);
    free(text);
}
