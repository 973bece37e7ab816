#include "grader/report/profile_sections.h"

#include "base/files.h"
#include "grader/report/profile_parts.h"
#include "grader/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *heading;
} sections[GR_PROFILE_SECTIONS] = {
#define GR_SECTION(name, text, heading) {text, heading},
    GR_PROFILE_SECTION_MAP(GR_SECTION)
#undef GR_SECTION
};

const char *gr_profile_heading(enum gr_profile_section section)
{
    return sections[section].heading;
}

enum gr_profile_section gr_profile_section_named(const char *name)
{
    int i = 0;
    while (i < GR_PROFILE_SECTIONS && strcmp(sections[i].name, name) != 0)
        i++;
    return (enum gr_profile_section)i;
}

/* ---- reading -------------------------------------------------------------------------------- */

const char *gr_profile_text(const struct tsv *t, size_t row, const char *column)
{
    const int at = tsv_column(t, column);
    return at < 0 ? "" : tsv_cell(t, row, at);
}

double gr_profile_number(const struct tsv *t, size_t row, const char *column)
{
    return strtod(gr_profile_text(t, row, column), NULL);
}

static void read_table(struct gr_profile *p, const char *name, struct tsv *to)
{
    char path[PATH_MAX];
    struct st_error err;
    if (!path_format(path, sizeof path, "%s/%s", p->folder, name) || !file_exists(path))
        return;
    if (tsv_read(path, to, &err) && !p->damage.code)
        p->damage = err;
}

static int ascending(const void *a, const void *b)
{
    const unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
    return (x > y) - (x < y);
}

static void note_size(struct gr_profile *p, unsigned long images)
{
    for (size_t i = 0; i < p->sizes; i++)
        if (p->images[i] == images)
            return;
    if (p->sizes < sizeof p->images / sizeof *p->images)
        p->images[p->sizes++] = images;
}

bool gr_profile_open(struct gr_profile *p, const char *folder)
{
    memset(p, 0, sizeof *p);
    if (!path_format(p->folder, sizeof p->folder, "%s", folder))
        return false;
    read_table(p, "kernels.tsv", &p->kernels);
    read_table(p, "calls.tsv", &p->calls);
    read_table(p, "analysis.tsv", &p->analysis);
    read_table(p, "lines.tsv", &p->lines);
    read_table(p, "layers.tsv", &p->layers);
    read_table(p, "parts.tsv", &p->parts);
    for (size_t i = 0; i < p->parts.rows; i++) {
        note_size(p, strtoul(gr_profile_text(&p->parts, i, "images"), NULL, 10));
        p->modelled |= strcmp(gr_profile_text(&p->parts, i, "device"), "virtual") == 0;
    }
    qsort(p->images, p->sizes, sizeof *p->images, ascending);
    return p->sizes > 0 || p->damage.code;
}

void gr_profile_close(struct gr_profile *p)
{
    tsv_free(&p->kernels);
    tsv_free(&p->calls);
    tsv_free(&p->analysis);
    tsv_free(&p->lines);
    tsv_free(&p->layers);
    tsv_free(&p->parts);
    memset(p, 0, sizeof *p);
}

unsigned long gr_profile_images(const struct tsv *t, size_t row)
{
    return strtoul(gr_profile_text(t, row, "images"), NULL, 10);
}

unsigned long gr_profile_largest(const struct tsv *t)
{
    unsigned long most = 0;
    for (size_t i = 0; i < t->rows; i++)
        most = gr_profile_images(t, i) > most ? gr_profile_images(t, i) : most;
    return most;
}

/* ---- all of it ------------------------------------------------------------------------------ */

bool gr_profile_has(const struct gr_profile *p, enum gr_profile_section section)
{
    switch (section) {
    case GR_PROFILE_KERNELS:
    case GR_PROFILE_SUMMARY:
        return p->kernels.rows > 0;
    case GR_PROFILE_CALLS:
        return p->calls.rows > 0;
    case GR_PROFILE_LIMITS:
        return p->analysis.rows > 0;
    case GR_PROFILE_LINES:
        return p->lines.rows > 0;
    case GR_PROFILE_SIZES:
        return p->layers.rows > 0 || p->kernels.rows > 0;
    case GR_PROFILE_TIME:
        return p->sizes > 0;
    default:
        return false;
    }
}

/* What is not there, once for each reason. */
static void put_absent(FILE *out, const struct gr_profile *p)
{
    const struct tsv *t = &p->parts;
    for (size_t i = 0; i < t->rows; i++) {
        const char *why = gr_profile_text(t, i, "reason");
        bool told = !why[0];
        for (size_t k = 0; k < i && !told; k++)
            told = strcmp(gr_profile_text(t, k, "reason"), why) == 0 &&
                   strcmp(gr_profile_text(t, k, "device"), gr_profile_text(t, i, "device")) == 0;
        if (told)
            continue;
        fputs("Not in this profile (", out);
        gr_put_markdown(out, gr_profile_text(t, i, "device"));
        fprintf(out, ", %lu images): ", gr_profile_images(t, i));
        gr_put_markdown(out, why);
        fputs(".\n\n", out);
    }
    if (p->damage.code) {
        fputs("Part of the profile cannot be read: ", out);
        gr_put_markdown(out, p->damage.what);
        fputs(" (", out);
        gr_put_markdown(out, p->damage.where);
        fputs("). Profile again.\n\n", out);
    }
}

void gr_profile_markdown(FILE *out, const char *folder, int *tables)
{
    struct gr_profile p;
    if (gr_profile_open(&p, folder)) {
        fputs("## Profile\n\n", out);
        if (p.modelled)
            fputs("Times on the GPU are modelled: those of the virtual GPU's clock.\n\n", out);
        put_absent(out, &p);
        for (int i = 0; i < GR_PROFILE_SECTIONS; i++) {
            if (!gr_profile_has(&p, (enum gr_profile_section)i))
                continue;
            fprintf(out, "### %s\n\n", sections[i].heading);
            gr_profile_put(out, &p, (enum gr_profile_section)i, tables);
        }
    }
    gr_profile_close(&p);
}
