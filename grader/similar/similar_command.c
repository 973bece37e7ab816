/* grader similar: reports which submissions resemble each other, and in which parts. */
#include "base/option_table.h"
#include "grader/similar/resemble.h"

int gr_command_similar(int argc, char **argv);

struct arguments {
    const char *gradebook, *folder, *milestone, *out, *table;
    int least;
};

static enum st_code read_works(const struct arguments *a, struct si_class *class,
                               struct st_error *err)
{
    struct gradebook *book;
    if (a->folder)
        return si_folder_read(class, a->folder, err);
    enum st_code code = gb_open(&book, a->gradebook, GB_READ, err);
    if (!code)
        code = si_gradebook_read(class, book, a->milestone, err);
    gb_close(book);
    return code;
}

static enum st_code check_works(const struct arguments *a, const struct si_class *class,
                                struct st_error *err)
{
    size_t submissions = 0;
    for (size_t i = 0; i < class->n; i++)
        submissions += !class->work[i].is_reference;
    if (submissions)
        return ST_OK;
    st_fail(err, ST_NOT_FOUND, "nothing to compare");
    st_detail(err, ST_WHERE, "%s", a->folder ? a->folder : a->gradebook);
    st_detail(err, ST_EXPECTED, "%s",
              a->folder ? "files NAME.c or NAME.cu" : "graded submissions with their sources");
    return st_detail(err, ST_HINT, "%s",
                     a->milestone ? "grader gradebook lists its milestones" : "grade a class");
}

static void print_pairs(const struct si_class *class)
{
    size_t weak = 0;
    for (size_t i = 0; i < class->pairs; i++) {
        const struct si_pair *p = &class->pair[i];
        const struct si_work *a = &class->work[p->a], *b = &class->work[p->b];
        printf("%s%s%s and %s: alike %s", a->milestone, a->milestone[0] ? " " : "", a->name,
               b->name, si_how_text(p->how));
        if (p->how > SI_RENAMED)
            printf(" (%.0f %%)", 100 * p->score);
        puts(si_weak_text(p));
        weak += p->weak;
    }
    printf("%zu similar pair%s of %zu sources", class->pairs, class->pairs == 1 ? "" : "s",
           class->n);
    if (weak)
        printf(", %zu of them weak", weak);
    putchar('\n');
    if (class->without_kernels)
        printf(
            "CUDA sources compared only as text, because their PTX was not kept: %zu (hint: grade them again)\n",
            class->without_kernels);
    if (class->without_code)
        printf(
            "Sources without kernels compared only as text, because they were not compiled: %zu (hint: C sources need clang; see grader sandbox)\n",
            class->without_code);
}

int gr_command_similar(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"milestone", 'm', "MN", "only this milestone", OPTION_TEXT(struct arguments, milestone)},
        {"out", 'o', "FILE", "write the page to this file (default: similar.html)",
         OPTION_TEXT(struct arguments, out)},
        {"table", 't', "FILE", "also write the pairs to this file, as a table",
         OPTION_TEXT(struct arguments, table)},
        {"least", 0, "PERCENT", "least similarity of the kernels and passages to report",
         OPTION_INT(struct arguments, least, 1, 100)},
        GB_OPTION_ROW(struct arguments, gradebook),
        {.value = "folder", OPTION_OPERAND(struct arguments, folder)},
        {0}};
    static const struct option_table table = {
        .rows = rows,
        .operands = "[FOLDER]",
        .about =
            "Show submissions of a class that resemble each other: byte for byte, except for names, comments and layout, by the computation of their code, or by passages of the source. The reference is compared as well. A pair of short sources is weak, and comes last: independent students may write the same short program. The page shows the sources side by side. A pair is a hint to look, not a verdict, and changes no points. With FOLDER, compare its files NAME.c or NAME.cu, with the kernels in NAME.ptx if it exists."};
    struct arguments a = {.gradebook = GB_DEFAULT_PATH, .out = "similar.html"};
    options_parse(&table, argc, argv, &a);
    struct si_class class = {.least = a.least / 100.0};
    struct st_error err;
    enum st_code code = read_works(&a, &class, &err);
    if (!code)
        code = check_works(&a, &class, &err);
    if (!code)
        code = si_compare(&class, &err);
    if (!code)
        code = si_page_write(a.out, &class, &err);
    if (!code && a.table)
        code = si_table_write(a.table, &class, &err);
    if (code) {
        st_print(stderr, "grader similar", &err);
    } else {
        print_pairs(&class);
        printf("%s\n", a.out);
    }
    si_class_free(&class);
    return code ? 2 : 0;
}
