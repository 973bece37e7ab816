/* grader overview: writes an overview of the class on one page. */
#include "base/option_table.h"
#include "grader/feedback/overview.h"

#include <math.h>

int gr_command_overview(int argc, char **argv);

struct arguments {
    const char *gradebook, *out;
};

static enum st_code write_page(struct gradebook *book, void *arguments, struct st_error *err)
{
    const struct arguments *a = arguments;
    enum st_code code = ov_page_write(a->out, book, &(struct ov_progress){.left_s = NAN}, err);
    if (!code)
        printf("%s\n", a->out);
    return code;
}

int gr_command_overview(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"out", 'o', "FILE", "the page (default: class.html)", OPTION_TEXT(struct arguments, out)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Write one page about the class: points and Op Times, mistakes by pattern, identical submissions, and what is left for you to do. You may run it while a class is being graded; grader class --page keeps the page up to date."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH, .out = "class.html"};
    options_parse(&table, argc, argv, &a);
    return gb_command(argv[0], a.gradebook, GB_READ, write_page, &a);
}
