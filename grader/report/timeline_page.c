/* Writes timeline.html, where the reader can zoom into the host's requests, the copies and the
 * kernels. The page is the template timeline.html with the rows of the largest trace as data, which
 * its script draws. */
#include "grader/report/timeline_page.h"

#include "base/files.h"
#include "base/page_template.h"
#include "grader/report/text_out.h"
#include "trace/trace.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 12000, MAX_STREAMS = 16 };

extern const char timeline_html[], timeline_js[], page_css[];

/* ---- data ------------------------------------------------------------------------------------- */

/* The lanes of the timeline: API calls, the copies of each stream, and the kernels of each
 * stream. */
struct streams {
    size_t n;
    uint64_t number[MAX_STREAMS];
};

struct lanes {
    struct streams copies, kernels;
};

static size_t place_in(const struct streams *s, uint64_t number)
{
    size_t i = 0;
    while (i < s->n && s->number[i] != number)
        i++;
    return i < MAX_STREAMS ? i : MAX_STREAMS - 1; /* the last lane gets the remaining streams */
}

static struct lanes find_lanes(const struct tr_trace *trace, size_t n)
{
    struct lanes l = {0};
    for (size_t i = 0; i < n; i++) {
        const struct tr_row *row = &trace->rows[i];
        struct streams *s = row->kind == TR_KERNEL ? &l.kernels : &l.copies;
        if (row->kind != TR_API && place_in(s, row->stream) == s->n)
            s->number[s->n++] = row->stream;
    }
    return l;
}

static size_t lane_of(const struct lanes *l, const struct tr_row *row)
{
    if (row->kind == TR_API)
        return 0;
    return row->kind == TR_KERNEL ? 1 + l->copies.n + place_in(&l->kernels, row->stream)
                                  : 1 + place_in(&l->copies, row->stream);
}

static void add_lane(cJSON *lanes, const char *name, const char *kind)
{
    cJSON *lane = cJSON_CreateArray();
    cJSON_AddItemToArray(lane, cJSON_CreateString(name));
    cJSON_AddItemToArray(lane, cJSON_CreateString(kind));
    cJSON_AddItemToArray(lanes, lane);
}

/* @param one  the lane's name if there is a single stream */
static void add_streams(cJSON *lanes, const struct streams *s, const char *one, const char *name,
                        const char *kind)
{
    char text[48];
    for (size_t i = 0; i < s->n; i++) {
        snprintf(text, sizeof text, "%s, stream %llu", name, (unsigned long long)s->number[i]);
        add_lane(lanes, s->n > 1 ? text : one, kind);
    }
}

static void add_lanes(cJSON *data, const struct lanes *l)
{
    cJSON *lanes = cJSON_AddArrayToObject(data, "lanes");
    add_lane(lanes, "API calls", "api");
    add_streams(lanes, &l->copies, "copies, fills", "copies", "copy");
    add_streams(lanes, &l->kernels, "kernels", "kernels", "kernel");
}

/* The index of a name among the trace's names. */
static size_t name_number(cJSON *names, const char **known, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(known[i], name) == 0)
            return i;
    known[*n] = name;
    cJSON_AddItemToArray(names, cJSON_CreateString(name));
    return (*n)++;
}

/* [lane, name, begin, duration, bytes, "grid, block"] */
static cJSON *row_of(const struct tr_row *row, size_t lane, size_t name)
{
    const double numbers[] = {(double)lane, (double)name, (double)row->start_ns,
                              row->end_ns > row->start_ns ? (double)(row->end_ns - row->start_ns)
                                                          : 0};
    cJSON *to = cJSON_CreateDoubleArray(numbers, 4);
    char launch[80];
    snprintf(launch, sizeof launch, "%ux%ux%u, %ux%ux%u", row->grid[0], row->grid[1], row->grid[2],
             row->block[0], row->block[1], row->block[2]);
    if (row->kind == TR_KERNEL || row->bytes >= 0)
        cJSON_AddItemToArray(to, cJSON_CreateNumber(row->bytes > 0 ? row->bytes : 0));
    if (row->kind == TR_KERNEL)
        cJSON_AddItemToArray(to, cJSON_CreateString(launch));
    return to;
}

static char *data_of(const struct tr_trace *trace, long images)
{
    const size_t n = trace->n < MAX_ROWS ? trace->n : MAX_ROWS;
    const struct lanes lanes = find_lanes(trace, n);
    const char **known = calloc(n + 1, sizeof *known);
    cJSON *data = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(data, "names"),
          *rows = cJSON_AddArrayToObject(data, "rows");
    size_t name_count = 0;
    cJSON_AddStringToObject(data, "device", trace->device);
    cJSON_AddBoolToObject(data, "real", trace->real);
    cJSON_AddNumberToObject(data, "images", (double)images);
    cJSON_AddNumberToObject(data, "cut", (double)(trace->n - n));
    for (size_t i = 0; known && i < n; i++) {
        const struct tr_row *row = &trace->rows[i];
        cJSON_AddItemToArray(rows, row_of(row, lane_of(&lanes, row),
                                          name_number(names, known, &name_count, row->name)));
    }
    add_lanes(data, &lanes);
    char *text = known ? cJSON_PrintUnformatted(data) : NULL;
    cJSON_Delete(data);
    free(known);
    return text;
}

/* ---- the page --------------------------------------------------------------------------------- */

enum st_code gr_timeline_page_write(const char *folder, struct st_error *err)
{
    char path[PATH_MAX];
    struct tr_trace trace = {0};
    struct text_out page;
    long images = 0;
    if (path_format(path, sizeof path, "%s/profile", folder))
        folder_numbers(path, "trace-", ".tsv", &images, 1);
    if (!path_format(path, sizeof path, "%s/profile/trace-%ld.tsv", folder, images) || !images ||
        tr_read(path, &trace, NULL) || !trace.n) {
        tr_free(&trace);
        if (path_format(path, sizeof path, "%s/" GR_TIMELINE_PAGE, folder))
            unlink(path); /* the page of an earlier profile */
        return ST_OK;
    }
    char *data = data_of(&trace, images);
    enum st_code code = data && text_out_open(&page)
                            ? ST_OK
                            : st_fail(err, ST_NO_MEMORY, "out of memory for the timeline");
    if (!code) {
        page_write(page.out, timeline_html,
                   (struct page_part[]){{"style", .text = page_css},
                                        {"script", .text = timeline_js},
                                        {"data", .json = data},
                                        {0}},
                   NULL);
        code = text_out_write(&page, folder, GR_TIMELINE_PAGE, err);
        text_out_free(&page);
    }
    free(data);
    tr_free(&trace);
    return code;
}
