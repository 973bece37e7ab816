#include "base/files.h"
#include "base/tests/temp_folder.h"
#include "grader/place/cores.h"
#include "grader/place/gpus.h"
#include "grader/place/turn.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(place, .init = temp_folder_make, .fini = temp_folder_remove);

/* ---- cores ---------------------------------------------------------------------------------- */

static cpu_set_t set_of(const char *text)
{
    cpu_set_t set;
    cr_assert(gr_cores_parse(text, &set), "%s", text);
    return set;
}

Test(place, sets_of_cores_are_read_and_written_as_the_kernel_does)
{
    static const char *const texts[] = {"0", "0-3", "0-3,8", "1,3,5-1023"};
    char text[64];
    cpu_set_t set;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        set = set_of(texts[i]);
        cr_expect_str_eq(gr_cores_text(&set, text, sizeof text), texts[i]);
    }
    set = set_of("0,1,2,7\n");
    cr_expect_str_eq(gr_cores_text(&set, text, sizeof text), "0-2,7");
    set = set_of("0,2,4,6,8");
    cr_expect_str_eq(gr_cores_text(&set, text, 6), "0,2,4", "cut, and ended");
}

Test(place, text_that_is_not_a_set_of_cores_is_refused)
{
    static const char *const texts[] = {"", "-1", "a", "3-1", "1,", "1-", "1 2", "1024", "0-99999"};
    cpu_set_t set;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect_not(gr_cores_parse(texts[i], &set), "'%s'", texts[i]);
}

/* Makes /sys of a machine where cores i and i + half belong to one physical core. */
static const char *machine_with_threads(int half)
{
    char name[64], text[32];
    for (int i = 0; i < 2 * half; i++) {
        snprintf(name, sizeof name, "cpu%d/topology", i);
        cr_assert_eq(dir_make(temp_path(name), NULL), ST_OK);
        snprintf(name, sizeof name, "cpu%d/topology/thread_siblings_list", i);
        snprintf(text, sizeof text, "%d,%d\n", i % half, i % half + half);
        temp_file(name, text, strlen(text));
    }
    return temp_path("");
}

Test(place, cores_are_split_in_halves_and_threads_of_one_stay_together)
{
    static const struct {
        const char *all;
        size_t wanted;
        const char *timing, *others; /* NULL: the set cannot be split */
    } cases[] = {
        {"0-7", 0, "2-3,6-7", "0-1,4-5"}, /* physical cores: 0 and 4, 1 and 5, ... */
        {"0-7", 1, "3,7", "0-2,4-6"},     {"0-7", 6, "1-3,5-7", "0,4"}, {"0-7", 8, NULL, NULL},
        {"0-3", 0, "2-3", "0-1"}, /* a container with one thread of each core */
        {"0,4", 0, NULL, NULL},   /* one core */
        {"0,4", 1, NULL, NULL},           {"0-1", 0, NULL, NULL},       {"0-1", 1, "1", "0"},
        {"0-2", 0, "2", "0-1"},           {"5", 1, NULL, NULL}, /* a single core */
    };
    const char *siblings = machine_with_threads(4);
    struct gr_cores cores;
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cpu_set_t all = set_of(cases[i].all);
        const bool split = gr_cores_split(&all, siblings, cases[i].wanted, &cores);
        cr_expect_eq(split, cases[i].timing != NULL, "%s, %zu", cases[i].all, cases[i].wanted);
        if (!split || !cases[i].timing)
            continue;
        cr_expect_str_eq(gr_cores_text(&cores.timing, text, sizeof text), cases[i].timing,
                         "%s, %zu", cases[i].all, cases[i].wanted);
        cr_expect_str_eq(gr_cores_text(&cores.others, text, sizeof text), cases[i].others,
                         "%s, %zu", cases[i].all, cases[i].wanted);
    }
    const cpu_set_t all = set_of("0-7");
    cr_assert(gr_cores_split(&all, "/nowhere", 0, &cores), "nothing is known of threads");
    cr_expect_str_eq(gr_cores_text(&cores.timing, text, sizeof text), "4-7");
}

/* ---- GPUs ----------------------------------------------------------------------------------- */

static const char two_gpus[] = "GPU 0: NVIDIA H200 (UUID: GPU-aaaa-0)\n"
                               "GPU 1: NVIDIA H200 (UUID: GPU-bbbb-1)\n";
static const char parts[] = "GPU 0: NVIDIA H200 (UUID: GPU-aaaa-0)\n"
                            "  MIG 3g.71gb     Device  0: (UUID: MIG-cccc-0)\n"
                            "  MIG 3g.71gb     Device  1: (UUID: MIG-dddd-1)\n"
                            "GPU 1: NVIDIA H200 (UUID: GPU-bbbb-1)\n";

static const char *found(const char *listing, const char *visible)
{
    static char text[256];
    struct gr_gpus gpus;
    gr_gpus_find(&gpus, listing, visible);
    *text = '\0';
    for (size_t i = 0; i < gpus.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", gpus.id[i]);
    return text;
}

Test(place, gpus_are_those_that_a_program_sees)
{
    cr_expect_str_eq(found(two_gpus, NULL), "GPU-aaaa-0 GPU-bbbb-1");
    cr_expect_str_eq(found(two_gpus, "1"), "GPU-bbbb-1");
    cr_expect_str_eq(found(two_gpus, "1, 0"), "GPU-bbbb-1 GPU-aaaa-0");
    cr_expect_str_eq(found(two_gpus, ""), "");
    cr_expect_str_eq(found(two_gpus, "-1"), "");
    cr_expect_str_eq(found(two_gpus, "0,7,1"), "GPU-aaaa-0", "the first that is none ends it");
    cr_expect_str_eq(found(two_gpus, "GPU-bbbb"), "GPU-bbbb");
    cr_expect_str_eq(found(parts, NULL), "MIG-cccc-0 MIG-dddd-1 GPU-bbbb-1");
    cr_expect_str_eq(found(NULL, "0,3"), "0 3", "without nvidia-smi");
    cr_expect_str_eq(found(NULL, NULL), "");
    cr_expect_str_eq(found("", NULL), "");
    cr_expect_str_eq(found("GPU 0: cut (UUID: ", NULL), "");
}

/* ---- the turn ------------------------------------------------------------------------------- */

/* Runs a grading that writes a letter into a common file at the beginning and at the end of its
 * turn. */
static void grade(int trace, bool times, const char *letters)
{
    struct gr_turn turn = GR_TURN_NONE;
    bool restart;
    if (gr_turn_work(&turn, NULL))
        _exit(1);
    if (!times) {
        if (write(trace, letters, 1) != 1 || usleep(20000) || write(trace, letters + 1, 1) != 1)
            _exit(2);
    } else {
        usleep(1000);
        if (gr_turn_take(&turn, true, &restart, NULL) || restart != !!getenv(GR_TIMING_SHARE))
            _exit(3);
        if (write(trace, "(", 1) != 1 || usleep(3000) || write(trace, ")", 1) != 1)
            _exit(4);
    }
    gr_turn_end(&turn);
    _exit(0);
}

/* Runs twelve gradings, of which every third measures times. @return the letters that they
 * wrote. */
static const char *trace_of_class(void)
{
    static char text[64];
    memset(text, 0, sizeof text);
    int trace = open(temp_path("trace"), O_RDWR | O_CREAT | O_APPEND | O_TRUNC, 0666), status;
    for (int i = 0; i < 12; i++)
        if (fork() == 0)
            grade(trace, i % 3 == 1, "wW");
    for (int i = 0; i < 12; i++) {
        wait(&status);
        cr_expect_eq(status, 0, "%d", status);
    }
    cr_assert_eq(pread(trace, text, sizeof text - 1, 0), 24);
    close(trace);
    return text;
}

/* @return whether there is nothing between "(" and ")"; with @p alone, not even other work. */
static bool times_are_apart(const char *text, bool alone)
{
    int working = 0, timing = 0;
    for (; *text; text++) {
        working += *text == 'w' ? 1 : *text == 'W' ? -1 : 0;
        timing += *text == '(' ? 1 : *text == ')' ? -1 : 0;
        if (timing > 1 || (alone && timing && working))
            return false;
    }
    return true;
}

Test(place, times_are_taken_one_at_a_time)
{
    setenv(GR_TIMING_LOCK, temp_path("lock"), 1);
    const char *text = trace_of_class();
    cr_expect(times_are_apart(text, false), "%s", text);
    cr_expect(times_are_apart("wW()w(W)", false) && !times_are_apart("(())", false));
}

Test(place, without_cores_apart_the_others_wait)
{
    setenv(GR_TIMING_LOCK, temp_path("lock"), 1);
    setenv(GR_TIMING_SHARE, temp_path("share"), 1);
    const char *text = trace_of_class();
    cr_expect(times_are_apart(text, true), "%s", text);
    cr_expect(strstr(text, "ww"), "work continues beside work: %s", text);
    cr_expect(!times_are_apart("w(W)", true), "the check can fail");
}

Test(place, the_turn_is_taken_on_the_cores_that_are_kept_for_it)
{
    struct gr_turn turn = GR_TURN_NONE;
    struct st_error err;
    cpu_set_t all, now;
    char text[64];
    bool restart = true;
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &all))
        last--;
    snprintf(text, sizeof text, "%d", last);
    setenv(GR_TIMING_CORES, text, 1);
    cr_expect_eq(gr_turn_take(&turn, false, &restart, &err), ST_OK);
    cr_expect_not(restart, "a GPU's turn");
    cr_expect_null(getenv("OMP_PROC_BIND"));
    cr_expect_eq(gr_turn_take(&turn, true, &restart, &err), ST_OK);
    cr_assert_eq(sched_getaffinity(0, sizeof now, &now), 0);
    cr_expect_str_eq(getenv("OMP_PROC_BIND"), "true");
    cr_expect(restart && CPU_COUNT(&now) == 1 && CPU_ISSET(last, &now));
    setenv(GR_TIMING_CORES, "none", 1);
    cr_expect_eq(gr_turn_take(&turn, true, &restart, &err), ST_USAGE);
    cr_expect_str_eq(err.got, "none");
}
