/* grader feedback: writes a page for each student, to send or to upload. */
#include "base/file_name.h"
#include "base/files.h"
#include "base/option_table.h"
#include "grader/feedback/feedback.h"

#include <stdlib.h>
#include <string.h>

int gr_command_feedback(int argc, char **argv);

struct arguments {
    const char *gradebook, *out, *student, *milestone;
};

static enum st_code write_pages(const struct arguments *a, const struct sd_class *class,
                                const struct sd_student *student, struct gradebook *book,
                                struct st_error *err)
{
    char name[FILE_NAME_BYTES], path[PATH_MAX], title[512], *markdown = NULL;
    size_t bytes = 0;
    struct file_out page;
    FILE *out = open_memstream(&markdown, &bytes);
    if (!out)
        return st_fail(err, ST_NO_MEMORY, "cannot write a feedback page");
    enum st_code code = fb_markdown_write(out, class, student, a->milestone, book, err);
    fclose(out);
    file_name_of(name, student->name, "-.@+");
    path_format(path, sizeof path, "%s/%s.md", a->out, name);
    if (!code)
        code = file_write(path, markdown, bytes, err);
    path_format(path, sizeof path, "%s/%s.html", a->out, name);
    if (!code && !(code = file_out_open(&page, path, err))) {
        snprintf(title, sizeof title, "ConvLab: feedback for %s",
                 student->display_name[0] ? student->display_name : student->name);
        fb_html_write(page.f, title, markdown, bytes);
        code = file_out_commit(&page, err);
    }
    free(markdown);
    return code;
}

static enum st_code write_all(struct gradebook *book, void *arguments, struct st_error *err)
{
    const struct arguments *a = arguments;
    size_t written = 0;
    struct sd_class class;
    enum st_code code = sd_class_read(&class, book, NULL, NULL, err);
    if (!code)
        code = dir_make(a->out, err);
    for (size_t i = 0; !code && i < class.students; i++) {
        const struct sd_student *s = &class.student[i];
        if (!s->submission ||
            (a->student && strcmp(a->student, s->name) != 0 && strcmp(a->student, s->email) != 0))
            continue;
        code = write_pages(a, &class, s, book, err);
        written++;
    }
    if (!code && !written) {
        st_fail(err, ST_NOT_FOUND, "the gradebook has no grade of this student");
        st_detail(err, ST_GOT, "%s", a->student ? a->student : "nobody's");
        code = st_detail(err, ST_HINT, "use the name or e-mail address that the roster has");
    }
    if (!code)
        printf("%zu feedback pages in %s\n", written, a->out);
    sd_class_free(&class);
    return code;
}

int gr_command_feedback(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"out", 'o', "DIR", "folder for NAME.html and NAME.md",
         OPTION_NEEDED(struct arguments, out, "expected a folder: --out DIR")},
        {"student", 0, "NAME", "only for this student, by name or e-mail address",
         OPTION_TEXT(struct arguments, student)},
        {"milestone", 'm', "mN", "only this milestone", OPTION_TEXT(struct arguments, milestone)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .about =
            "Write a feedback page for each student, as self-contained HTML and as Markdown: points, failed checks and how to find the mistakes, manual points and comments, Op Times in the class's distribution without names."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH};
    options_parse(&table, argc, argv, &a);
    return gb_command(argv[0], a.gradebook, GB_READ, write_all, &a);
}
