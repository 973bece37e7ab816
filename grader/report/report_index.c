/* index.html: one card for every milestone that has been graded, from its result.json.
 *
 * The files may be older, newer or damaged: what is missing is left out, and a file that cannot be
 * read becomes a card that says so. */
#include "grader/report/report.h"
#include "grader/report/report_parts.h"

#include "base/files.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JSON_BYTES = 8 << 20, MAX_MILESTONES = 100 };

/* @return N of a folder's name "mN", or -1. */
static int milestone_number(const char *name)
{
    size_t digits = name[0] == 'm' ? strspn(name + 1, "0123456789") : 0;
    return digits >= 1 && digits <= 4 && name[1 + digits] == '\0' ? atoi(name + 1) : -1;
}

static int by_number(const void *a, const void *b)
{
    int first = milestone_number(a), second = milestone_number(b);
    return first != second ? (first > second) - (first < second) : strcmp(a, b);
}

/* Finds the folders with a result.json, in numeric order. */
static enum st_code find_milestones(const char *folder, char (*names)[8], size_t *n,
                                    struct st_error *err)
{
    *n = 0;
    DIR *dir = opendir(folder);
    if (!dir) {
        enum st_code code = st_fail_errno(err, errno, "cannot read folder");
        return st_detail(err, ST_WHERE, "%s", folder), code;
    }
    for (struct dirent *entry; (entry = readdir(dir)) && *n < MAX_MILESTONES;) {
        char path[PATH_MAX];
        if (milestone_number(entry->d_name) >= 0 &&
            path_format(path, sizeof path, "%s/%s/result.json", folder, entry->d_name) &&
            file_exists(path))
            snprintf(names[(*n)++], sizeof *names, "%.7s", entry->d_name);
    }
    closedir(dir);
    qsort(names, *n, sizeof *names, by_number);
    return ST_OK;
}

static cJSON *read_result(const char *folder, const char *name)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/%s/result.json", folder, name) ||
        file_read(path, MAX_JSON_BYTES, &text, &bytes, NULL))
        return NULL;
    cJSON *root = cJSON_Parse(text);
    free(text);
    if (!cJSON_IsObject(root)) {
        cJSON_Delete(root);
        return NULL;
    }
    return root;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static void put_number(FILE *out, double value, int digits)
{
    char text[NUMBER_CHARS];
    fputs(isfinite(value) ? number_short(text, value, digits) : "–", out);
}

static void put_points(FILE *out, double points)
{
    if (isfinite(points) && points == floor(points) && fabs(points) < 1e9)
        fprintf(out, "%.0f", points);
    else
        put_number(out, points, 3);
}

static void put_fact(FILE *out, const char *name, const char *text)
{
    if (!text[0])
        return;
    fprintf(out, "<dt>%s</dt><dd>", name);
    gr_put_html(out, text);
    fputs("</dd>\n", out);
}

/* Op Times and correctness of the inference with the most images. */
static void put_inference(FILE *out, const cJSON *root)
{
    const cJSON *largest = NULL, *entry;
    cJSON_ArrayForEach(entry,
                       cJSON_GetObjectItemCaseSensitive(
                           root, "inference")) if (!largest || number_of(entry, "images") >
                                                                   number_of(largest, "images"))
        largest = entry;
    if (!largest || !isfinite(number_of(largest, "images")))
        return;
    fputs("<dt>Op Time</dt><dd>", out);
    int layer = 0;
    const cJSON *time;
    cJSON_ArrayForEach(time, cJSON_GetObjectItemCaseSensitive(largest, "op_times_s"))
    {
        fprintf(out, "%slayer %d: ", layer ? ", " : "", layer + 1);
        put_number(out, cJSON_IsNumber(time) ? time->valuedouble * 1e3 : NAN, 4);
        fputs(" ms", out);
        layer++;
    }
    fprintf(out, " (%.0f images, ", number_of(largest, "images"));
    gr_put_html(out, text_of(largest, "model"));
    fputs(")</dd>\n<dt>Correctness</dt><dd>", out);
    put_number(out, number_of(largest, "correctness"), 4);
    if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(largest, "passed")))
        fputs(" <strong>✗ outputs wrong</strong>", out);
    fputs("</dd>\n", out);
}

/* How the technique and the speed were found, where there are such checks. */
static void put_technique(FILE *out, const cJSON *root)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "evidence"), *entry;
    int held = 0, all = 0;
    cJSON_ArrayForEach(entry, list)
    {
        all++;
        held += cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(entry, "holds"));
    }
    if (all)
        fprintf(out, "<dt>Technique</dt><dd>%s%d of %d facts found%s</dd>\n",
                held < all ? "<strong>✗ " : "", held, all, held < all ? "</strong>" : "");
    const cJSON *speed = cJSON_GetObjectItemCaseSensitive(root, "speed");
    double reference = number_of(speed, "to_reference"), m2 = number_of(speed, "to_m2");
    if (!isfinite(reference) && !isfinite(m2))
        return;
    fputs("<dt>Op Times</dt><dd>", out);
    if (isfinite(reference))
        put_number(out, reference, 3), fputs("× the reference's", out);
    if (isfinite(reference) && isfinite(m2))
        fputs(", ", out);
    if (isfinite(m2))
        put_number(out, m2, 3), fputs("× m2's", out);
    fputs("</dd>\n", out);
}

static void put_card(FILE *out, const char *folder, const char *name, const cJSON *root)
{
    const char *title = text_of(root, "title");
    fprintf(out, "<li class=\"card\"><div>\n<h2><a href=\"%s/report.html\">%s%s", name, name,
            title[0] ? ": " : "");
    gr_put_html(out, title);
    fputs("</a></h2>\n<p class=\"score\">", out);
    put_points(out, number_of(root, "score"));
    fputs(" of ", out);
    put_points(out, number_of(root, "max_score"));
    fputs(" automatic points</p>\n", out);
    if (number_of(root, "manual_max") > 0) {
        fputs("<p>", out);
        put_points(out, number_of(root, "manual_max"));
        fputs(" more are left for the instructor</p>\n", out);
    }
    fputs("<dl>\n", out);
    put_fact(out, "Graded", text_of(root, "subject"));
    put_inference(out, root);
    put_technique(out, root);
    put_fact(out, "Machine", text_of(root, "machine"));
    put_fact(out, "Date", text_of(root, "date"));
    fputs("</dl>\n</div>\n", out);
    char picture[64];
    snprintf(picture, sizeof picture, "%s/plots/op-times.svg", name);
    char path[PATH_MAX];
    if (path_format(path, sizeof path, "%s/%s", folder, picture) && file_exists(path)) {
        fprintf(out,
                "<a href=\"%s/report.html\"><img alt=\"Op Times of %s by data-set size\" src=\"",
                name, name);
        gr_html_put_picture(out, folder, picture);
        fputs("\"></a>\n", out);
    }
    fputs("</li>\n", out);
}

static void put_page(FILE *out, const char *folder, char (*names)[8], size_t n)
{
    gr_html_begin(out, "ConvLab: graded milestones");
    fputs("<h1>ConvLab: graded milestones</h1>\n", out);
    if (!n)
        fputs("<p>No milestone has been graded yet.</p>\n", out);
    fputs("<ul class=\"cards\">\n", out);
    for (size_t i = 0; i < n; i++) {
        cJSON *root = read_result(folder, names[i]);
        if (root)
            put_card(out, folder, names[i], root);
        else
            fprintf(out,
                    "<li class=\"card\"><div>\n<h2>%s</h2>\n<p>%s/result.json cannot be read: "
                    "grade %s again.</p>\n</div></li>\n",
                    names[i], names[i], names[i]);
        cJSON_Delete(root);
    }
    fputs("</ul>\n</main>\n</body>\n</html>\n", out);
}

enum st_code gr_index_write(const char *folder, struct st_error *err)
{
    char path[PATH_MAX], names[MAX_MILESTONES][8];
    size_t n;
    struct file_out out;
    enum st_code code = find_milestones(folder, names, &n, err);
    if (code)
        return code;
    if (!path_format(path, sizeof path, "%s/index.html", folder)) {
        st_fail(err, ST_TOO_LARGE, "path is too long");
        return st_detail(err, ST_WHERE, "%.80s...", folder), ST_TOO_LARGE;
    }
    code = file_out_open(&out, path, err);
    if (code)
        return code;
    put_page(out.f, folder, names, n);
    return file_out_commit(&out, err);
}
