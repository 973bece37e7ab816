/* Writes the script of a plot, NAME.gp, which is complete: its values (gnuplot lines written in C),
 * then style.gp, which all plots share, then the script of its kind (op-times.gp, ...). */
#include "grader/plots/plot_parts.h"

#include "base/page_template.h"

enum st_code plot_begin(struct plot_stage *stage, struct plot_job *job, const char *title,
                        const char *origin, struct st_error *err)
{
    const char *name = job->result->name;
    char text[128];
    job->table = plot_file(stage, job, "tsv", err);
    if (!job->table)
        return err->code;
    job->values = plot_file(stage, job, "gp", err);
    if (!job->values) {
        fclose(job->table);
        return err->code;
    }
    job->begun = true;
    snprintf(job->result->title, sizeof job->result->title, "%s",
             plot_text(text, sizeof text, title, 58));
    fprintf(
        job->values,
        "# Draws %s.svg, %s.png and %s.pdf from %s.tsv: gnuplot %s.gp\n"
        "# Change it as you like, under another name: the next grading writes this file again.\n"
        "reset session\n\n"
        "data = '%s.tsv'\n"
        "heading = '%s'\n"
        "origin = '%s'\n",
        name, name, name, name, name, name, job->result->title,
        plot_text(text, sizeof text, origin, 64));
    return ST_OK;
}

/* Writes a script, with every @name@ replaced by the plot's name. */
static void put_script(FILE *out, const char *script, const char *name)
{
    char ignored[PAGE_NAME_CHARS];
    while (page_template_next(out, &script, ignored))
        fputs(name, out);
}

enum st_code plot_end(struct plot_job *job, const char *script, struct st_error *err)
{
    fputc('\n', job->values);
    put_script(job->values, style_gp, job->result->name);
    put_script(job->values, script, job->result->name);
    bool failed = ferror(job->table) || ferror(job->values);
    failed |= fclose(job->table) != 0;
    failed |= fclose(job->values) != 0;
    if (failed) {
        job->begun = false;
        return st_fail(err, ST_IO, "cannot write the files of plot %s", job->result->name);
    }
    return ST_OK;
}

void plot_list(const struct plot_job *job, const char *name, size_t n)
{
    fprintf(job->values, "array %s[%zu]\n", name, n ? n : 1);
}
