#include "plots_fixture.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(plots, .init = temp_folder_make, .fini = temp_folder_remove);

const char *in_tests(const char *name)
{
    static char path[4][PATH_MAX];
    static int next;
    next = (next + 1) % 4;
    path_format(path[next], PATH_MAX, "%s/grader/plots/tests/%s", checkout_root(NULL), name);
    return path[next];
}

void shell(const char *format, const char *a, const char *b)
{
    char command[3 * PATH_MAX];
    snprintf(command, sizeof command, format, a, b);
    cr_assert_eq(system(command), 0, "%s", command);
}

const char *copy_of_data(void)
{
    shell("cp -R '%s' '%s'", in_tests("data"), temp_path("reports"));
    return temp_path("reports/m5");
}

struct gr_plots *draw(const char *folder)
{
    struct st_error err;
    struct gr_plots *plots = calloc(1, sizeof *plots);
    enum st_code code = gr_plots_draw(folder, plots, &err);
    cr_assert_eq(code, ST_OK, "%s: %s", code ? err.what : "", code ? err.where : "");
    return plots;
}

char *picture(const char *folder, const char *name)
{
    char path[PATH_MAX];
    path_format(path, sizeof path, "%s/plots/%s", folder, name);
    return text_of_file(path);
}

bool is_well_formed(const char *xml)
{
    char open[64][32];
    size_t depth = 0;
    for (const char *p = xml; *p; p++) {
        if (*p == '&') {
            size_t n = strcspn(p, ";");
            if (n > 8 || strcspn(p, " <") < n)
                return false;
        }
        if (*p != '<')
            continue;
        const char *end = p + 1;
        for (char quote = 0; *end && (quote || *end != '>'); end++) {
            if (*end == '<' || (quote && *end == quote))
                quote = 0;
            else if (!quote && (*end == '"' || *end == '\''))
                quote = *end;
            if (*end == '<')
                return false;
        }
        if (!*end)
            return false;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p + 1 + (p[1] == '/'), " \t\n/>"),
                 p + 1 + (p[1] == '/'));
        if (p[1] == '/') {
            if (!depth || strcmp(open[--depth], name) != 0)
                return false;
        } else if (p[1] != '?' && p[1] != '!' && end[-1] != '/') {
            if (depth == 64)
                return false;
            strcpy(open[depth++], name);
        }
        p = end;
    }
    return depth == 0;
}
