#include "report_fixture.h"

#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"
#include "grader/report/report.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Tags, table cells, fences, TeX, gnuplot's quotes and commands, terminal controls, text-direction
 * marks, bytes that are not UTF-8, and the markers of report.md itself. */
const char hostile[] =
    "<script>alert(1)</script>|`b`|``` \"q\" 'p' $(id) `id` \\end{tabular} %c &amp; "
    "_u_ *e* $m$ ~t~ #h ^x {y} [l](javascript:z) ![i](http://e.test/i.png)\n"
    "```\n<!-- END PROSE -->\n<!-- BEGIN PROSE effect -->\n# heading\n| a | b |\n"
    "' ; system('touch hacked') #\n\x1b[31m \xe2\x80\xae \xff\xc3( \xed\xa0\x80 é";

static void set_shape(struct gr_timing *t, int images)
{
    t->shape = t->layer == 1 ? (struct conv_shape){images, 12, 1, 70, 70, 5}
                             : (struct conv_shape){images, 24, 12, 33, 33, 5};
    t->gmac = (t->layer == 1 ? 13.0683e-4 : 60.5520e-4) * images;
}

void add_timing(struct gr_result *result, enum gr_subject subject, int layer, int images,
                double seconds)
{
    struct gr_timing *t = &result->timing[result->timings++];
    t->subject = subject;
    strcpy(t->model, "two-layer");
    t->layer = layer;
    set_shape(t, images);
    t->repeats = 3;
    t->op_time_s[0] = seconds * 1.02;
    t->op_time_s[1] = seconds;
    t->op_time_s[2] = seconds / 1.01;
    t->median_s = seconds;
}

static void add_inference(struct gr_result *result, size_t images, double correctness)
{
    struct gr_inference *inference = &result->inference[result->inferences++];
    strcpy(inference->model, "two-layer");
    inference->images = images;
    inference->convs = 2;
    inference->op_time_s[0] = 2.1e-5 * (double)images;
    inference->op_time_s[1] = 4.1e-5 * (double)images;
    inference->correctness = inference->expected_correctness = correctness;
    inference->max_error = 3.1e-6;
    inference->passed = true;
    for (int layer = 1; layer <= 2; layer++) {
        double seconds = inference->op_time_s[layer - 1];
        add_timing(result, GR_SUBMISSION, layer, (int)images, seconds);
        add_timing(result, GR_REFERENCE, layer, (int)images, seconds * 0.8);
    }
}

static void add_check(struct gr_result *result, const char *name, const char *text, double points)
{
    struct gr_check *check = &result->check[result->checks++];
    strcpy(check->name, name);
    strcpy(check->text, text);
    strcpy(check->message, "all outputs are right");
    check->points = check->max_points = points;
    check->required = true;
    result->score += points;
    result->max_score += points;
}

struct gr_result *sample_result(void)
{
    struct gr_result *r = calloc(1, sizeof *r);
    cr_assert_not_null(r);
    strcpy(r->milestone, "m1");
    strcpy(r->title, "CPU convolution");
    strcpy(r->technique, "The convolution itself, on the CPU");
    strcpy(r->subject, "submission");
    strcpy(r->source, "labs/m1-cpu-conv/conv.c");
    strcpy(r->version, "v1.0-3-g0123456");
    strcpy(r->date, "2026-11-20 18:30 UTC");
    strcpy(r->device, "cpu");
    strcpy(r->machine, "Intel(R) Xeon(R) Processor, 2 cores, 23 GiB");
    strcpy(r->timed_on, "cores 0-1");
    r->timed_from = 1795234672.25, r->timed_until = 1795234675.5;
    strcpy(r->compiler, "gcc 12.2.0, -O3 -march=native");
    strcpy(r->command, "./grader m1");
    r->seed = 48213377;
    add_check(r, "unit_shapes", "Every unit shape is right", 40);
    add_check(r, "inference", "Inference is right at every size", 20);
    strcpy(r->manual[0].name, "explanation");
    strcpy(r->manual[0].text, "The report explains the order of the loops");
    r->manual[0].max_points = r->manual_max = 40;
    r->manuals = 1;
    add_inference(r, 100, 0.92);
    add_inference(r, 1000, 0.903);
    add_inference(r, 10000, 0.8994);
    add_timing(r, GR_PLAIN_LOOPS, 1, 100, 0.0654);
    add_timing(r, GR_PLAIN_LOOPS, 2, 100, 0.378);
    r->unit_shapes = r->unit_shapes_right = 26;
    r->max_error = 9.3e-6;
    strcpy(r->course_lines, "Loading fashion-mnist data... done\nLoading model... done\n"
                            "New Inference\nOp Time: 0.002100\nOp Time: 0.004100\n"
                            "Correctness: 0.92 Model: two-layer\n");
    return r;
}

/* Cuts the string where the field ends, even inside a character. */
#define SET_HOSTILE(field) snprintf(field, sizeof(field), "%.*s", (int)sizeof(field) - 1, hostile)

struct gr_result *hostile_result(void)
{
    struct gr_result *r = sample_result();
    SET_HOSTILE(r->milestone);
    SET_HOSTILE(r->title);
    SET_HOSTILE(r->technique);
    SET_HOSTILE(r->subject);
    SET_HOSTILE(r->source);
    SET_HOSTILE(r->version);
    SET_HOSTILE(r->date);
    SET_HOSTILE(r->device);
    SET_HOSTILE(r->profile);
    SET_HOSTILE(r->machine);
    SET_HOSTILE(r->timed_on);
    SET_HOSTILE(r->compiler);
    SET_HOSTILE(r->command);
    SET_HOSTILE(r->course_lines);
    r->check[0].status = GR_FAIL;
    for (size_t i = 0; i < r->checks; i++) {
        SET_HOSTILE(r->check[i].name);
        SET_HOSTILE(r->check[i].text);
        SET_HOSTILE(r->check[i].pattern);
        SET_HOSTILE(r->check[i].message);
        SET_HOSTILE(r->check[i].hint);
        SET_HOSTILE(r->check[i].map);
    }
    SET_HOSTILE(r->manual[0].name);
    SET_HOSTILE(r->manual[0].text);
    for (size_t i = 0; i < r->inferences; i++)
        SET_HOSTILE(r->inference[i].model);
    for (size_t i = 0; i < r->timings; i++)
        SET_HOSTILE(r->timing[i].model);
    return r;
}

struct gr_result *gpu_result(const char *text)
{
    struct gr_result *r = sample_result();
    for (size_t i = 0, n = r->timings; i < n; i++) {
        if (r->timing[i].subject != GR_REFERENCE)
            continue;
        struct gr_timing *t = &r->timing[r->timings++];
        *t = r->timing[i];
        t->subject = GR_BASELINE;
        t->median_s *= 5;
    }
    strcpy(r->evidence[0].fact, "x_through_shared");
    snprintf(r->evidence[0].text, sizeof r->evidence[0].text, "%s", text);
    r->evidence[0].found = 0.25;
    r->evidence[1] = r->evidence[0];
    r->evidence[1].holds = true;
    r->evidences = 2;
    r->speed = (struct gr_speed){100, 0.5e-3, 1.25, 0.25, 0, 2};
    return r;
}

/* ---- folders and files ---------------------------------------------------------------------- */

void folder_make(void)
{
    temp_folder_make();
}

void folder_remove(void)
{
    temp_folder_remove();
}

const char *in_folder(const char *name)
{
    return temp_path(name);
}

void without_gnuplot(void)
{
    setenv("PATH", in_folder("no-programs"), 1);
}

char *read_text(const char *name)
{
    return text_of_file(in_folder(name));
}

void write_text(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

const char *const all_files[ALL_FILES] = {
    "results.tsv",       "checks.tsv",         "result.json",        "grading.md",
    "report.html",       "op-times.tex",       "speed-up.tex",       "checks.tex",
    "evidence.tsv",      "plots/op-times.svg", "plots/op-times.png", "plots/op-times.tsv",
    "plots/op-times.gp", "plots/speed-up.svg", "plots/speed-up.png", "plots/speed-up.tsv",
    "plots/speed-up.gp",
};

void write_report(const struct gr_result *r, const char *name)
{
    struct st_error err;
    enum st_code code = gr_report_write(r, in_folder(name), &err);
    cr_assert_eq(code, ST_OK, "%s: %s", code ? err.what : "", code ? err.where : "");
}

size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
        n++;
    return n;
}

char *replaced(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "'%s' is not there", from);
    char *result;
    cr_assert_geq(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
    return result;
}

size_t folder_entries(void)
{
    size_t n = 0;
    DIR *dir = opendir(temp_folder);
    cr_assert_not_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

bool is_utf8(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        int more = *p < 0x80                  ? 0
                   : *p >= 0xc2 && *p <= 0xdf ? 1
                   : *p >= 0xe0 && *p <= 0xef ? 2
                   : *p >= 0xf0 && *p <= 0xf4 ? 3
                                              : -1;
        bool surrogate = *p == 0xed && p[1] >= 0xa0;
        bool overlong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90);
        bool beyond = *p == 0xf4 && p[1] >= 0x90;
        if (more < 0 || surrogate || overlong || beyond)
            return false;
        for (; more; more--)
            if ((*++p & 0xc0) != 0x80)
                return false;
    }
    return true;
}
