/* grader class: runs the stages that class.h lists. */
#include "grader/class/class.h"

#include "base/checkout.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/rng.h"
#include "grader/class/class_options.h"
#include "grader/class/slurm_schedule.h"
#include "grader/class/store_grade.h"
#include "grader/course/machine.h"
#include "grader/standing/late.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int gr_command_class(int argc, char **argv);

enum { EXIT_ALL_GRADED = 0, EXIT_NOT_ALL = 2 };

/* ---- the run -------------------------------------------------------------------------------- */

/* Only one run at a time may use a gradebook: the lock ends with the process, however the process
 * ends. */
static enum st_code lock(struct cl_class *class, struct st_error *err)
{
    char path[PATH_MAX], holder[64] = "";
    path_format(path, sizeof path, "%s/class.lock", class->files);
    class->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (class->lock < 0) {
        st_fail_errno(err, errno, "cannot write the gradebook's lock file");
        return st_detail(err, ST_WHERE, "%s", path);
    }
    if (flock(class->lock, LOCK_EX | LOCK_NB)) {
        ssize_t n = pread(class->lock, holder, sizeof holder - 1, 0);
        holder[n > 0 ? n : 0] = '\0';
        st_fail(err, ST_IO, "another run of grader class is writing to this gradebook");
        st_detail(err, ST_WHERE, "%s", class->options->gradebook);
        st_detail(err, ST_GOT, "process %s", holder);
        return st_detail(err, ST_HINT, "wait for it, or name another gradebook with --gradebook"),
               ST_IO;
    }
    snprintf(holder, sizeof holder, "%ld", (long)getpid());
    if (ftruncate(class->lock, 0) || pwrite(class->lock, holder, strlen(holder), 0) < 0)
        return st_fail_errno(err, errno, "cannot write the gradebook's lock file");
    return ST_OK;
}

/* Makes GRADEBOOK.files, with an empty folder for the graders' temporary files. */
static enum st_code make_files(struct cl_class *class, struct st_error *err)
{
    char tmp[PATH_MAX], folder[PATH_MAX], real[PATH_MAX];
    if (path_make(folder, sizeof folder, err, "%s.files", class->options->gradebook))
        return err->code;
    enum st_code code = dir_make(folder, err);
    if (code)
        return code;
    if (!realpath(folder, real))
        return st_fail_errno(err, errno, "cannot use %s", folder);
    path_format(class->files, sizeof class->files, "%s", real);
    if ((code = lock(class, err)))
        return code;
    if (path_make(tmp, sizeof tmp, err, "%s/tmp", class->files))
        return err->code;
    tree_remove(tmp);
    return dir_make(tmp, err);
}

static enum st_code begin_run(struct cl_class *class, struct st_error *err)
{
    char host[128] = "", command[CL_NAME_BYTES];
    gethostname(host, sizeof host - 1);
    gr_version(class->version, sizeof class->version);
    cl_name_text(command, class->options->command);
    struct gb_run run = {
        .started = time(NULL), .command = command, .version = class->version, .host = host};
    enum st_code code = gb_run_put(class->book, &run, err);
    class->run = gb_last_id(class->book);
    return code;
}

static enum st_code end_run(struct cl_class *class, struct st_error *err)
{
    return gb_change(class->book, err, "UPDATE run SET finished = %lld WHERE id = %lld",
                     (long long)time(NULL), (long long)class->run);
}

/* Chooses the class's seed: --seed, or the gradebook's. */
static enum st_code choose_seed(struct cl_class *class, struct st_error *err)
{
    char *stored, text[32];
    class->seed = class->options->seed;
    enum st_code code = gb_setting_get(class->book, "class_seed", &stored, err);
    if (code)
        return code;
    if (!class->options->seed_given)
        class->seed = stored ? strtoull(stored, NULL, 10) : rng_fresh_seed();
    if (!stored) {
        snprintf(text, sizeof text, "%" PRIu64, class->seed);
        code = gb_setting_put(class->book, &(struct gb_setting){"class_seed", text}, err);
    }
    free(stored);
    return code;
}

/* A grade belongs to the rubric with which it was made. If a rubric was edited, every run reports
 * this until all grades have been made again. */
static enum st_code check_rubrics(struct cl_class *class, struct st_error *err)
{
    const struct cl_options *o = class->options;
    const bool all_again = o->regrade && !o->only && !o->since;
    enum st_code code = ST_OK;
    for (size_t i = 0; !code && i < o->milestones; i++) {
        char name[32], *stored, hash[SHA256_HEX];
        snprintf(name, sizeof name, "rubric_%s", o->milestone[i].id);
        memcpy(hash, o->rubric[i], sizeof hash);
        if ((code = gb_setting_get(class->book, name, &stored, err)))
            return code;
        if (!stored || all_again)
            code = gb_setting_put(class->book, &(struct gb_setting){name, hash}, err);
        else if (strcmp(stored, hash) != 0)
            cl_notice(class, NULL,
                      "%s: its rubric was edited; earlier grades do not change (hint: --regrade)",
                      o->milestone[i].id);
        free(stored);
    }
    return code;
}

/* Names, before anything is graded, the items of the rubric that these options leave out. */
static void notice_unchecked(struct cl_class *class, size_t m)
{
    const struct cl_options *o = class->options;
    const struct gr_options one = cl_options_of(o, m);
    const struct gr_rubric *rubric = o->rubrics[m];
    char names[512] = "";
    double points = 0;
    for (unsigned i = 0; i < rubric->items_count; i++) {
        const struct gr_item *item = &rubric->items[i];
        if (item->kind != GR_AUTOMATIC || gr_options_ask_for(&one, item))
            continue;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", item->id);
        points += item->points;
    }
    if (points > 0)
        cl_notice(
            class, NULL,
            "%s: %s: not checked with %s: %g of its %g automatic points (grader final needs --unchecked)",
            o->milestone[m].id, names, o->asked.sizes ? "these --images" : "--quick", points,
            o->max_score[m]);
}

static void report_deadlines(void *class, const char *line)
{
    cl_notice(class, NULL, "%s", line);
}

/* Stores the deadlines. Mistakes in them do not stop the grading, because they can be corrected
 * later. */
static enum st_code keep_deadlines(struct cl_class *class, struct st_error *err)
{
    const struct cl_options *o = class->options;
    struct st_error wrong;
    enum st_code code = ST_OK;
    if (o->deadlines &&
        sd_deadlines_keep(class->book, o->deadlines, report_deadlines, class, &wrong))
        cl_notice(class, NULL, "%s: %s: the earlier deadlines still apply",
                  wrong.where[0] ? wrong.where : o->deadlines, wrong.what);
    for (size_t i = 0; !code && o->due_s != 0 && i < o->milestones; i++)
        code = sd_due_keep(class->book, o->milestone[i].id, o->due_s, err);
    return code;
}

/* ---- the reports at the end ----------------------------------------------------------------- */

static void print_summary(const struct cl_class *class, const struct cl_counts *c,
                          size_t up_to_date)
{
    printf("%zu graded: %zu pass, %zu fail, %zu skip, %zu missing, %zu rejected, %zu fault",
           c->stored, c->pass, c->fail, c->skip, c->missing, c->rejected, c->fault);
    if (up_to_date)
        printf("; %zu were up to date", up_to_date);
    if (c->retried)
        printf("; %zu gradings were retried after faults", c->retried);
    printf("\nGradebook: %s\n", class->options->gradebook);
    if (c->stopped)
        printf("Stopped with %zu left: run the same command again to resume.\n",
               c->total - c->stored);
    else if (c->fault)
        printf(
            "Not graded because of faults of the grader or the machine: %zu. Run the same command again to retry them.\n",
            c->fault);
}

/* A class contains hostile submissions, so it is graded only in a sandbox, unless --no-sandbox is
 * given. */
static enum st_code open_sandbox(struct cl_class *class, struct st_error *err)
{
    const char *build = checkout_build(err);
    if (!build)
        return err->code;
    enum st_code code = gr_sandbox_open(
        &class->sandbox, class->options->no_sandbox ? GR_SANDBOX_NEVER : GR_SANDBOX_REQUIRED, build,
        err);
    if (code)
        st_detail(
            err, ST_HINT,
            "see grader sandbox; if you trust the whole class, --no-sandbox grades without it");
    return code;
}

static int grade(struct cl_class *class, struct st_error *err)
{
    struct cl_task *tasks = NULL;
    struct cl_counts counts = {0};
    size_t n = 0, up_to_date = 0;
    enum st_code code = cl_roster_read(class, err);
    if (!code)
        code = cl_intake(class, err);
    if (!code && class->submissions == 0)
        cl_notice(class, NULL, "no submissions in %s", class->options->dir);
    if (!code)
        code = cl_tasks_make(class, &tasks, &n, &up_to_date, err);
    if (!code)
        code = (class->options->slurm ? cl_tasks_run_slurm : cl_tasks_run)(class, tasks, n, &counts,
                                                                           err);
    if (!code && !counts.stopped)
        code = end_run(class, err);
    for (size_t i = 0; i < n; i++)
        cl_task_free(&tasks[i]);
    free(tasks);
    if (code)
        return EXIT_NOT_ALL;
    print_summary(class, &counts, up_to_date);
    cl_page_update(class, &counts, true);
    return counts.stored == counts.total && !counts.fault ? EXIT_ALL_GRADED : EXIT_NOT_ALL;
}

/* Grades one task on a node of a cluster. The exit status shows Slurm whether the task left an
 * outcome. */
static int one_task(const struct cl_options *options)
{
    struct st_error err;
    if (!cl_slurm_task(options, &err))
        return EXIT_ALL_GRADED;
    st_print(stderr, "grader class", &err);
    return EXIT_NOT_ALL;
}

int gr_command_class(int argc, char **argv)
{
    static struct cl_options options;
    struct cl_class class = {.options = &options, .lock = -1};
    struct st_error err = {0};
    cl_options_parse(&options, argc, argv);
    if (options.task)
        return one_task(&options);
    enum st_code code = cl_options_milestones(&options, &err);
    if (!code)
        code = open_sandbox(&class, &err);
    if (!code)
        code = make_files(&class, &err);
    if (!code)
        code = cl_options_flags(&options, class.files, &err);
    if (!code)
        code = gb_open(&class.book, options.gradebook, GB_CREATE, &err);
    if (!code)
        code = cl_options_keep(&options, class.book, class.files, &err);
    if (!code)
        code = begin_run(&class, &err);
    if (!code)
        code = choose_seed(&class, &err);
    if (!code)
        code = check_rubrics(&class, &err);
    for (size_t m = 0; !code && m < options.milestones; m++)
        notice_unchecked(&class, m);
    if (!code)
        code = keep_deadlines(&class, &err);
    int status = code ? EXIT_NOT_ALL : grade(&class, &err);
    if (err.code)
        st_print(stderr, "grader class", &err);
    cl_submissions_free(&class);
    for (size_t m = 0; m < options.milestones; m++)
        gr_rubric_free(options.rubrics[m]);
    gb_close(class.book);
    if (class.lock >= 0)
        close(class.lock);
    return status;
}
