/** @file
 * The tables of a profile's folder. Internal to grader/profile.
 */
#pragma once

#include "base/cost.h"
#include "base/files.h"

enum {
    PF_KERNELS,
    PF_CALLS,
    PF_ANALYSIS,
    PF_RESOURCES,
    PF_LINES,
    PF_PICTURES,
    PF_LAYERS,
    PF_PARTS,
    PF_TABLES
};

/** Tables that grow with each size, and all appear at the end. */
struct pf_tables {
    struct file_out table[PF_TABLES];
    int open;
};

/** Creates the folder, removes an earlier profile from it, and starts the tables. */
enum st_code pf_open(struct pf_tables *tables, const char *folder, struct st_error *err);

/** Removes an earlier profile from a folder, and the folder if it is then empty. */
void pf_remove(const char *folder);

/** Copies the graded file into the folder, for a page that shows its lines: a later version has
 * different lines. Does nothing if it is not a file, or larger than 256 KB. */
enum st_code pf_source(const char *folder, const char *source, struct st_error *err);

/** Commits the tables, or discards them after an error. @return @p code, or the error in writing
 * the tables. */
enum st_code pf_close(struct pf_tables *tables, enum st_code code, struct st_error *err);

/** Records that a part of the profile exists, or the reason why it does not. @param absent  the
 * reason; NULL: the part exists */
void pf_part(struct pf_tables *tables, size_t images, const char *device, const char *part,
             const char *absent);

/** Records the page that shows a running block of a kernel. */
void pf_picture(struct pf_tables *tables, size_t images, const char *kernel, const char *page);

/** Records the Op Times that the program printed. */
void pf_layers(struct pf_tables *tables, size_t images, const char *device, const double *op_time_s,
               size_t layers, double elapsed_s, double correctness);
