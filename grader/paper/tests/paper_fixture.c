#include "paper_fixture.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/tests/temp_folder.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *templates_folder;

const char *data_path(const char *name)
{
    static char path[PATH_MAX];
    struct st_error err;
    const char *root = checkout_root(&err);
    cr_assert(root && path_format(path, sizeof path, "%s/grader/paper/tests/data/%s", root, name));
    return path;
}

void paper_make(void)
{
    static char templates[PATH_MAX];
    temp_folder_make();
    cr_assert(path_format(templates, sizeof templates, "%s", data_path("templates")));
    templates_folder = templates;
}

void paper_remove(void)
{
    temp_folder_remove();
}

const char *paper_folder(void)
{
    return temp_folder;
}

const char *in_folder(const char *name)
{
    return temp_path(name);
}

void write_text(const char *name, const char *text)
{
    temp_file(name, text, strlen(text));
}

enum st_code assemble(const struct text *old, const char *const *sections, struct text *to,
                      char **notes, struct st_error *err)
{
    struct gr_sources *src = calloc(1, sizeof *src);
    struct pp_document document = {0};
    struct pp_request request = {.src = src, .templates = templates_folder};
    src->root = temp_folder;
    src->team = "Tensor <script>alert(1)</script> \\write18{touch hacked} $5 100% & 漢字 Łódź";
    src->author[src->authors++] = "Ada | Lovelace (al1)";
    src->author[src->authors++] =
        "A name that is as long as a name can be, and longer: "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    cr_assert(path_format(src->gradings, PATH_MAX, "%s", data_path("gradings")));
    cr_assert(path_format(src->out, PATH_MAX, "%s", temp_folder));
    for (; *sections; sections++)
        request.section[request.sections++] = *sections;
    enum st_code code = ST_OK;
    if (old) {
        char *copy = malloc(old->bytes + 1);
        memcpy(copy, old->text, old->bytes);
        code = pp_document_parse(copy, old->bytes, "report.md", &document, err);
    }
    char *told = NULL;
    size_t told_bytes;
    FILE *out = open_memstream(&to->text, &to->bytes), *tell = open_memstream(&told, &told_bytes);
    if (!code)
        code = pp_sources_read(src, err);
    if (!code)
        code = pp_assemble(&request, &document, out, tell, err);
    fclose(out), fclose(tell);
    if (notes)
        *notes = told;
    else
        free(told);
    pp_document_free(&document);
    pp_sources_free(src);
    free(src);
    return code;
}

struct text assembled(const struct text *old, const char *const *sections, char **notes)
{
    struct text text;
    struct st_error err = {0};
    cr_assert_eq(assemble(old, sections, &text, notes, &err), ST_OK, "%s: %s", err.what, err.where);
    return text;
}

struct text sample_report(void)
{
    return assembled(NULL, (const char *const[]){"m3", "m4", "final", NULL}, NULL);
}

struct pp_document document_of(const struct text *text)
{
    struct pp_document document;
    struct st_error err;
    char *copy = malloc(text->bytes + 1);
    memcpy(copy, text->text, text->bytes);
    cr_assert_eq(pp_document_parse(copy, text->bytes, "report.md", &document, &err), ST_OK);
    return document;
}

int run(const char *format, ...)
{
    char command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
