#include "grader/profile/profile_files.h"

#include "analysis/analysis.h"
#include "base/tsv.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SOURCE_BYTES = 256 << 10 };

static void layers_header(FILE *out)
{
    static const char *const columns[] = {"images",    "device",    "layer",
                                          "op_time_s", "elapsed_s", "correctness"};
    tsv_write_row(out, sizeof columns / sizeof *columns, columns);
}

static void parts_header(FILE *out)
{
    static const char *const columns[] = {"images", "device", "part", "state", "reason"};
    tsv_write_row(out, sizeof columns / sizeof *columns, columns);
}

static void pictures_header(FILE *out)
{
    static const char *const columns[] = {"images", "kernel", "page"};
    tsv_write_row(out, sizeof columns / sizeof *columns, columns);
}

static const struct {
    const char *name;
    void (*header)(FILE *out);
} tables_made[PF_TABLES] = {[PF_KERNELS] = {"kernels.tsv", an_kernels_tsv_header},
                            [PF_CALLS] = {"calls.tsv", an_calls_tsv_header},
                            [PF_ANALYSIS] = {"analysis.tsv", an_analysis_tsv_header},
                            [PF_RESOURCES] = {"resources.tsv", an_resources_tsv_header},
                            [PF_LINES] = {"lines.tsv", an_lines_tsv_header},
                            [PF_PICTURES] = {"pictures.tsv", pictures_header},
                            [PF_LAYERS] = {"layers.tsv", layers_header},
                            [PF_PARTS] = {"parts.tsv", parts_header}};

/* Removes the files of an earlier profile, which must not be mixed with the new tables. */
static void remove_earlier(const char *folder)
{
    static const char *const prefixes[] = {"trace-", "counters-",  "ncu-", "summary-",
                                           "time-",  "source.txt", "run"};
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        bool ours = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            ours = ours || strncmp(entry->d_name, prefixes[i], strlen(prefixes[i])) == 0;
        for (size_t i = 0; i < PF_TABLES; i++)
            ours = ours || strcmp(entry->d_name, tables_made[i].name) == 0;
        if (ours)
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
}

void pf_remove(const char *folder)
{
    remove_earlier(folder);
    rmdir(folder);
}

enum st_code pf_open(struct pf_tables *t, const char *folder, struct st_error *err)
{
    char path[PATH_MAX];
    t->open = 0;
    enum st_code code = dir_make(folder, err);
    if (!code)
        remove_earlier(folder);
    for (int i = 0; i < PF_TABLES && !code; i++) {
        if (path_make(path, sizeof path, err, "%s/%s", folder, tables_made[i].name))
            return err->code;
        code = file_out_open(&t->table[i], path, err);
        if (code)
            return code;
        tables_made[i].header(t->table[i].f);
        t->open++;
    }
    return code;
}

enum st_code pf_source(const char *folder, const char *source, struct st_error *err)
{
    char path[PATH_MAX], *text;
    size_t bytes;
    if (!path_format(path, sizeof path, "%s/source.txt", folder) ||
        file_read(source, MAX_SOURCE_BYTES, &text, &bytes, NULL))
        return ST_OK;
    const enum st_code code = file_write(path, text, bytes, err);
    free(text);
    return code;
}

enum st_code pf_close(struct pf_tables *t, enum st_code code, struct st_error *err)
{
    for (int i = 0; i < t->open; i++) {
        if (code)
            file_out_abort(&t->table[i]);
        else
            code = file_out_commit(&t->table[i], err);
    }
    t->open = 0;
    return code;
}

void pf_part(struct pf_tables *t, size_t images, const char *device, const char *part,
             const char *absent)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", images);
    tsv_write_row(t->table[PF_PARTS].f, 5,
                  (const char *const[]){number, device, part, absent ? "absent" : "here",
                                        absent ? absent : ""});
}

void pf_picture(struct pf_tables *t, size_t images, const char *kernel, const char *page)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", images);
    tsv_write_row(t->table[PF_PICTURES].f, 3, (const char *const[]){number, kernel, page});
}

void pf_layers(struct pf_tables *t, size_t images, const char *device, const double *op_time_s,
               size_t layers, double elapsed_s, double correctness)
{
    for (size_t i = 0; i < layers; i++) {
        fprintf(t->table[PF_LAYERS].f, "%zu\t%s\t%zu\t%.9f\t%.3f\t", images, device, i + 1,
                op_time_s[i], elapsed_s);
        if (correctness >= 0)
            fprintf(t->table[PF_LAYERS].f, "%.4f", correctness);
        fputc('\n', t->table[PF_LAYERS].f);
    }
}
