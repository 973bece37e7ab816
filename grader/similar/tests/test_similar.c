/* Tests that disguising code does not change its marks, and that exactly the suspicious pairs are
 * reported, with the right kind. */
#include "base/files.h"
#include "base/tests/test_text.h"
#include "grader/similar/resemble.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                              \
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f(.param .u64 p, .param .u32 n)\n{\n" \
    ".reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .b64 %rd<99>;\n.reg .pred %p<9>;\n"

static const char kernel[] =
    HEAD "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
         "mad.lo.s32 %r3, %r2, 7, %r1;\nmul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
         "setp.ge.s32 %p1, %r3, %r1;\n@%p1 bra L;\nld.global.f32 %f1, [%rd3];\n"
         "mul.f32 %f2, %f1, 0f40400000;\nst.global.f32 [%rd3], %f2;\nL:\nret;\n}\n";

/* Renamed, with unsigned types, an inverted comparison, copies and another order. */
static const char disguised[] = HEAD
    "mov.u32 %r12, %tid.x;\nld.param.u32 %r21, [n];\nmov.b32 %r22, %r12;\n"
    "mad.lo.u32 %r33, 7, %r22, %r21;\nld.param.u64 %rd11, [p];\nsetp.lt.u32 %p4, %r33, %r21;\n"
    "mul.wide.u32 %rd12, %r33, 4;\nadd.u64 %rd31, %rd12, %rd11;\n@!%p4 bra M;\n"
    "ld.global.nc.f32 %f11, [%rd31];\nmul.rn.f32 %f12, 0f40400000, %f11;\nst.global.f32 [%rd31], %f12;\nM:\nret;\n}\n";

static struct si_marks marks_of(const char *ptx)
{
    struct si_marks marks = {0};
    struct st_error err;
    cr_assert_eq(si_kernel_marks(&marks, ptx, strlen(ptx), &err), ST_OK, "%s", err.what);
    return marks;
}

static int by_hash(const void *a, const void *b)
{
    const struct si_mark *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static bool are_same(const char *a, const char *b)
{
    struct si_marks x = marks_of(a), y = marks_of(b);
    bool same = x.n == y.n && x.n > 10;
    qsort(x.mark, x.n, sizeof *x.mark, by_hash);
    qsort(y.mark, y.n, sizeof *y.mark, by_hash);
    for (size_t i = 0; i < x.n && same; i++)
        same = x.mark[i].hash == y.mark[i].hash;
    si_marks_free(&x);
    si_marks_free(&y);
    return same;
}

/* Copies the text with one part replaced; malloc'd. */
static char *with(const char *text, const char *part, const char *by)
{
    char *out = malloc(strlen(text) + strlen(by) + 1);
    const char *at = strstr(text, part);
    cr_assert(at && out);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, by, at + strlen(part));
    return out;
}

Test(similar, a_kernel_is_known_by_its_computation)
{
    static const char *const changes[][2] = {
        {"7, %r1", "9, %r1"},
        {"mul.f32", "add.f32"},
        {"%tid.x", "%ctaid.x"},
        {"setp.ge.s32 %p1, %r3, %r1", "setp.ge.s32 %p1, %r1, %r3"}};
    cr_expect(are_same(kernel, disguised));
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *other = with(kernel, changes[i][0], changes[i][1]);
        cr_expect_not(are_same(kernel, other), "%s", changes[i][1]);
        free(other);
    }
}

Test(similar, damaged_ptx_is_refused)
{
    struct si_marks marks = {0};
    struct st_error err;
    cr_expect_eq(si_kernel_marks(&marks, "{ not PTX", 9, &err), ST_BAD_FORMAT);
    si_marks_free(&marks);
}

Test(similar, a_disguised_copy_has_the_same_fingerprint)
{
    static const char original[] =
        "int sum(int n)\n{\n    int s = 0; /* all */\n    return s + n * 2;\n}\n";
    static const char *const copies[] = {
        "int total(int count) { int acc=0; // x\n return acc+count*2; }", original};
    static const char *const others[] = {"int sum(int n) { int s = 0; return n + s * 2; }",
                                         "int sum(int n) { int s = 0; return s + n * 3; }", ""};
    char hex[65], other[65];
    si_fingerprint(original, strlen(original), hex);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        si_fingerprint(copies[i], strlen(copies[i]), other);
        cr_expect_str_eq(hex, other);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        si_fingerprint(others[i], strlen(others[i]), other);
        cr_expect_str_neq(hex, other);
    }
}

/* Makes a different program for each number: a chain of statements that no other program has. */
static char *program(int number, bool renamed, int statements)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "float f(const float *%s, int n)\n{\n    float sum = 0;\n",
            renamed ? "data" : "x");
    for (int i = 0; i < statements; i++)
        fprintf(out, "    for (int j%d = %d; j%d < n * %d; j%d += %d) sum %s= %s[j%d * %d] * %d;\n",
                i, number % (i + 3), i, number + i, i, 1 + number % 5, (number + i) % 2 ? "+" : "-",
                renamed ? "data" : "x", i, number * i, number / (i + 1));
    fputs("    return sum;\n}\n", out);
    fclose(out);
    return text;
}

static void add(struct si_class *class, const char *name, const char *source, const char *ptx)
{
    struct st_error err;
    cr_assert_eq(si_work_add(class, "m2", name, source, ptx, false, &err), ST_OK, "%s", err.what);
}

static void expect_pair(const struct si_class *class, size_t i, const char *a, const char *b,
                        enum si_how how)
{
    cr_assert_gt(class->pairs, i);
    const struct si_pair *p = &class->pair[i];
    cr_expect(strcmp(class->work[p->a].name, a) == 0 && strcmp(class->work[p->b].name, b) == 0 &&
                  p->how == how,
              "pair %zu is %s and %s, %s", i, class->work[p->a].name, class->work[p->b].name,
              si_how_text(p->how));
}

Test(similar, each_pair_has_its_kind_and_others_have_none)
{
    struct si_class class = {0};
    struct st_error err;
    char *text[8], name[8], *renamed = program(100, true, 20);
    for (int i = 0; i < 8; i++) {
        text[i] = program(100 + 37 * i, false, 20);
        snprintf(name, sizeof name, "s%d", i);
        add(&class, name, text[i], NULL);
    }
    add(&class, "t_same", text[0], NULL);
    add(&class, "u_renamed", renamed, NULL);
    char *more = with(text[3], "float sum = 0;", "float sum = 0; /* mine */ int unused;");
    add(&class, "v_passages", more, NULL);
    add(&class, "w_kernel", text[4], kernel);
    add(&class, "x_kernel", "float *other; int k[7], l = 4;", disguised);
    cr_assert_eq(si_compare(&class, &err), ST_OK);
    expect_pair(&class, 0, "s0", "t_same", SI_IDENTICAL);
    expect_pair(&class, 1, "s4", "w_kernel", SI_IDENTICAL);
    expect_pair(&class, 2, "s0", "u_renamed", SI_RENAMED);
    expect_pair(&class, 3, "s3", "v_passages", SI_TEXT);
    cr_expect_eq(class.pairs, 4, "the kernel of a copy that is known already is compared once");
    si_class_free(&class);
    for (int i = 0; i < 8; i++)
        free(text[i]);
    free(renamed);
    free(more);
}

Test(similar, short_code_is_weak_unless_its_layout_is_equal_too)
{
    static const char *const more[] = {"", " /* mine */", ""};
    static const struct {
        int statements;
        bool weak;
    } sizes[] = {{20, false}, {11, true}};
    for (size_t k = 0; k < 2; k++) {
        struct si_class class = {0};
        struct st_error err;
        for (int i = 0; i < 3; i++) {
            char *text = program(100, false, sizes[k].statements), name[8],
                 *mine = with(text, "float sum = 0;", "float sum = 0;@"),
                 *all = with(mine, "@", more[i]);
            snprintf(name, sizeof name, "s%d", i);
            add(&class, name, all, NULL);
            free(text);
            free(mine);
            free(all);
        }
        cr_assert_eq(si_compare(&class, &err), ST_OK);
        cr_assert_eq(class.pairs, 2, "%zu", class.pairs);
        expect_pair(&class, 0, "s0", "s2", SI_IDENTICAL);
        expect_pair(&class, 1, "s0", "s1", SI_RENAMED);
        for (size_t i = 0; i < 2; i++)
            cr_expect_eq(class.pair[i].weak, sizes[k].weak && i > 0, "pair %zu of %zu", i,
                         class.work[0].words.n);
        si_class_free(&class);
    }
}

Test(similar, what_many_have_says_nothing)
{
    for (int others = 1; others <= 30; others += 29) {
        struct si_class class = {0};
        struct st_error err;
        char name[8], source[64];
        for (int i = 0; i <= others; i++) {
            snprintf(name, sizeof name, "s%02d", i);
            snprintf(source, sizeof source, "__global__ int name_%d%s;", i, i ? ", 7" : "");
            add(&class, name, source, i % 2 ? kernel : disguised);
        }
        cr_assert_eq(si_compare(&class, &err), ST_OK);
        size_t kernels = 0;
        for (size_t i = 0; i < class.pairs; i++)
            kernels += class.pair[i].how == SI_KERNELS;
        cr_expect_eq(kernels, 0, "numbers differ, or all have it: %zu pairs of %d", kernels,
                     others + 1);
        si_class_free(&class);
    }
}

Test(similar, the_page_shows_both_sources_and_runs_nothing)
{
    char folder[] = "/tmp/similar-test-XXXXXX", path[64];
    struct si_class class = {0};
    struct st_error err;
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/page.html", folder);
    add(&class, "<script>ann", "int x = 1 < 2; // <img src=x>\n", NULL);
    add(&class, "bob & co", "int x = 1 < 2; // <img src=x>\n", NULL);
    cr_assert_eq(si_compare(&class, &err), ST_OK);
    cr_assert_eq(si_page_write(path, &class, &err), ST_OK);
    char *page = text_of_file(path);
    cr_expect(strstr(page, "&lt;script&gt;ann and bob &amp; co</strong>: alike byte for byte"),
              "%s", page);
    cr_expect(strstr(page, "not a verdict"));
    cr_expect_null(strstr(page, "<script"));
    cr_expect_null(strstr(page, "<img"));
    free(page);
    si_class_free(&class);
    tree_remove(folder);
}
