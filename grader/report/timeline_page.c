/* timeline.html: what the host asked for, what was copied and which kernels ran, to be looked at closely.
 * The page is timeline.html with the rows of the largest trace as data; its script draws them. */
#include "grader/report/timeline_page.h"

#include "base/files.h"
#include "base/page_template.h"
#include "grader/report/text_out.h"
#include "trace/trace.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROWS = 12000, MAX_STREAMS = 16, LANE_API = 0, LANE_COPIES, LANE_KERNELS };

extern const char timeline_html[], timeline_js[], page_css[];

/* The largest N of profile/trace-N.tsv; 0 if there is none. */
static unsigned long largest_trace(const char *folder)
{
    char path[PATH_MAX];
    unsigned long most = 0;
    DIR *dir = path_format(path, sizeof path, "%s/profile", folder) ? opendir(path) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        unsigned long n;
        int length = 0;
        if (sscanf(entry->d_name, "trace-%lu.tsv%n", &n, &length) == 1 && length &&
            !entry->d_name[length])
            most = n > most ? n : most;
    }
    if (dir)
        closedir(dir);
    return most;
}

/* ---- data ------------------------------------------------------------------------------------- */

/* Lanes: API calls, copies, and the kernels of each stream. */
struct lanes {
    size_t streams;
    uint64_t stream[MAX_STREAMS];
};

static int lane_of(struct lanes *l, const struct tr_row *row)
{
    if (row->kind == TR_API)
        return LANE_API;
    if (row->kind != TR_KERNEL)
        return LANE_COPIES;
    for (size_t i = 0; i < l->streams; i++)
        if (l->stream[i] == row->stream)
            return LANE_KERNELS + (int)i;
    if (l->streams == MAX_STREAMS) /* the last lane is for the rest, too */
        return LANE_KERNELS + MAX_STREAMS - 1;
    l->stream[l->streams++] = row->stream;
    return LANE_KERNELS + (int)l->streams - 1;
}

static void add_lane(cJSON *lanes, const char *name, const char *kind)
{
    cJSON *lane = cJSON_CreateArray();
    cJSON_AddItemToArray(lane, cJSON_CreateString(name));
    cJSON_AddItemToArray(lane, cJSON_CreateString(kind));
    cJSON_AddItemToArray(lanes, lane);
}

static void add_lanes(cJSON *data, const struct lanes *l)
{
    cJSON *lanes = cJSON_AddArrayToObject(data, "lanes");
    add_lane(lanes, "API calls", "api");
    add_lane(lanes, "copies, fills", "copy");
    for (size_t i = 0; i < l->streams; i++) {
        char name[48];
        snprintf(name, sizeof name, "kernels, stream %llu", (unsigned long long)l->stream[i]);
        add_lane(lanes, l->streams > 1 ? name : "kernels", "kernel");
    }
}

/* The number of a name among those of the trace. */
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
static cJSON *row_of(const struct tr_row *row, int lane, size_t name)
{
    const double numbers[] = {lane, (double)name, (double)row->start_ns,
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

static char *data_of(const struct tr_trace *trace, unsigned long images)
{
    struct lanes lanes = {0};
    const size_t n = trace->n < MAX_ROWS ? trace->n : MAX_ROWS;
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
        const int lane = lane_of(&lanes, row);
        cJSON_AddItemToArray(rows,
                             row_of(row, lane, name_number(names, known, &name_count, row->name)));
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
    const unsigned long images = largest_trace(folder);
    if (!path_format(path, sizeof path, "%s/profile/trace-%lu.tsv", folder, images) || !images ||
        tr_read(path, &trace, NULL) || !trace.n) {
        tr_free(&trace);
        if (path_format(path, sizeof path, "%s/" GR_TIMELINE_PAGE, folder))
            unlink(path); /* of another profile */
        return ST_OK;
    }
    char *data = data_of(&trace, images);
    enum st_code code = data && text_out_open(&page)
                            ? ST_OK
                            : st_fail(err, ST_NO_MEMORY, "cannot hold the timeline in memory");
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
