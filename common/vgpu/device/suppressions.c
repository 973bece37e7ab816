#include "vgpu/device/suppressions.h"

#include "base/array_room.h"
#include "base/files.h"
#include "vgpu/device/record.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };
#define SPACES " \t\r"

struct rule {
    const char *kind, *kernel, *file; /**< file NULL: any */
    int line;                         /**< 0: any */
};

struct suppressions {
    char *text;
    struct rule *rules;
    size_t n;
};

/* @return whether a pattern matches at least one kind. */
static bool is_kind(const char *pattern)
{
    for (int kind = 0; kind < VG_FAULT_KINDS; kind++)
        if (fnmatch(pattern, fault_name((enum vg_fault_kind)kind), 0) == 0)
            return true;
    return false;
}

/* Reads a rule. @return false if the line is not a rule */
static bool rule_read(struct rule *r, char *line)
{
    char *rest, *end;
    *r = (struct rule){.kind = strtok_r(line, SPACES, &rest)};
    r->kernel = strtok_r(NULL, SPACES, &rest);
    r->file = strtok_r(NULL, SPACES, &rest);
    char *colon = r->file ? strrchr(r->file, ':') : NULL;
    if (colon) {
        *colon = '\0';
        r->line = (int)strtol(colon + 1, &end, 10);
        if (r->line <= 0 || *end)
            return false;
    }
    return r->kernel && !strtok_r(NULL, SPACES, &rest) && is_kind(r->kind);
}

static enum st_code rules_read(struct suppressions *list, const char *path, struct st_error *err)
{
    int number = 0;
    for (char *line = list->text, *next; line; line = next) {
        number++;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "#")] = '\0';
        if (!line[strspn(line, SPACES)])
            continue;
        if (!ARRAY_ROOM(list->rules, list->n))
            return st_fail(err, ST_NO_MEMORY, "out of memory for the suppressions");
        if (rule_read(&list->rules[list->n++], line))
            continue;
        st_fail(err, ST_BAD_FORMAT, "a line of the suppressions is not a rule");
        st_detail(err, ST_WHERE, "%s:%d", path, number);
        st_detail(err, ST_EXPECTED,
                  "KIND KERNEL [FILE[:LINE]], for example: race_raw reduce* sum.cu:12");
        return ST_BAD_FORMAT;
    }
    return ST_OK;
}

enum st_code suppressions_read(struct suppressions **to, const char *path, struct st_error *err)
{
    size_t bytes;
    struct suppressions *list = calloc(1, sizeof *list);
    if (!list)
        return st_fail(err, ST_NO_MEMORY, "out of memory for the suppressions");
    enum st_code code = file_read(path, FILE_BYTES_MAX, &list->text, &bytes, err);
    if (!code)
        code = rules_read(list, path, err);
    if (code)
        suppressions_free(list);
    else
        *to = list;
    return code;
}

static bool fits_place(const struct rule *r, const char *file, int line)
{
    const char *last = strrchr(file, '/');
    return (fnmatch(r->file, file, 0) == 0 || fnmatch(r->file, last ? last + 1 : file, 0) == 0) &&
           (r->line == 0 || r->line == line);
}

/* Kernels of CUB read elements of their shared memory that no thread wrote, and let several threads
 * write elements that no thread uses. A program cannot change that, and cannot cause it, unless the
 * elements are copies of its own. */
static bool is_inside_cub(const struct vg_fault *f)
{
    return strncmp(f->kernel, "cub::", 5) == 0 && f->address < VG_GLOBAL_BASE && !f->is_copied &&
           (f->kind == VG_FAULT_UNINITIALISED || f->kind == VG_FAULT_RACE_RAW ||
            f->kind == VG_FAULT_RACE_WAR || f->kind == VG_FAULT_RACE_WAW);
}

bool suppressions_cover(const struct suppressions *list, const struct vg_fault *f)
{
    if (is_inside_cub(f))
        return true;
    for (size_t i = 0; list && i < list->n; i++) {
        const struct rule *r = &list->rules[i];
        if (fnmatch(r->kind, fault_name(f->kind), 0) == 0 &&
            fnmatch(r->kernel, f->kernel, 0) == 0 &&
            (!r->file || fits_place(r, f->file, f->line) ||
             fits_place(r, f->other_file, f->other_line)))
            return true;
    }
    return false;
}

void suppressions_free(struct suppressions *list)
{
    if (!list)
        return;
    free(list->text);
    free(list->rules);
    free(list);
}
