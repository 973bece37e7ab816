/* Tests of the reader of traces, kernels' names and the timeline. */
#include "trace/trace.h"

#include "base/files.h"
#include "vprof/chrome.h"
#include "trace/demangle.h"
#include "vprof/tests/trace_text.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <unistd.h>

static void sample(struct trace_text *t)
{
    trace_begin(t);
    trace_row(t, "copy_htod", "", 100, 200);
    trace_row(t, "api", "cudaMemcpy", 90, 210);
    trace_row(t, "kernel", "add", 300, 400);
    trace_row(t, "api", "cudaLaunchKernel_v7000", 290, 310);
    fclose(t->out);
}

Test(trace, is_read_up_to_where_it_was_cut_off)
{
    struct trace_text t;
    sample(&t);
    const size_t header = (size_t)(strchr(t.text, '\n') - t.text) + 1;
    for (size_t bytes = header; bytes <= t.bytes; bytes++) {
        char *copy = calloc(1, bytes + 1);
        memcpy(copy, t.text, bytes);
        size_t lines = 0;
        for (size_t i = 0; i < bytes; i++)
            lines += copy[i] == '\n';
        const bool whole = copy[bytes - 1] == '\n';
        struct tr_trace trace;
        struct st_error err;
        cr_assert_eq(tr_parse(copy, bytes, "trace", &trace, &err), ST_OK, "%zu bytes", bytes);
        cr_assert_eq(trace.n, lines - 1, "%zu bytes", bytes);
        cr_assert_eq(trace.truncated[0] != '\0', !whole, "%zu bytes", bytes);
        tr_free(&trace);
    }
    free(t.text);
}

Test(trace, of_another_kind_is_refused)
{
    static const char *const texts[] = {"", "kind\tname", "no\ttrace\n1\t2\n", "\n", "x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tr_trace trace;
        struct st_error err;
        cr_expect_neq(tr_parse(strdup(texts[i]), strlen(texts[i]), "trace", &trace, &err), ST_OK,
                      "%s", texts[i]);
    }
}

Test(trace, with_a_row_of_a_wrong_length_is_read_up_to_it)
{
    static const char text[] = "kind\tname\tstart_ns\tend_ns\napi\tcudaFree\t1\t2\n"
                               "api\tcudaFree\t1\napi\tcudaFree\t3\t4\n";
    struct tr_trace trace = trace_of(strdup(text));
    cr_expect_eq(trace.n, 1);
    cr_expect(strstr(trace.truncated, "line 3"), "%s", trace.truncated);
    tr_free(&trace);
}

/* On a GPU of compute capability 9.0, recording adds 400 ns to a kernel that is recorded alone. */
Test(trace, leaves_out_the_time_that_recording_adds_to_kernels)
{
    static const char *const capabilities[] = {"90", "75"};
    for (size_t i = 0; i < 2; i++) {
        char *text;
        cr_assert_gt(asprintf(&text,
                              "kind\tname\tstart_ns\tend_ns\tbytes\tserial\n"
                              "kernel\tone\t1000\t3000\t\t1\n"
                              "kernel\tof_several\t3000\t5000\t\t0\n"
                              "kernel\tshorter_than_marks\t6000\t6799\t\t1\n"
                              "api\tcudaFree\t1000\t3000\t\t\n"
                              "limit\tcompute_capability\t\t\t%s\t\n",
                              capabilities[i]),
                     0);
        struct tr_trace trace = trace_of(text);
        cr_assert_eq(trace.n, 4);
        cr_expect_eq(trace.rows[0].start_ns, 1000);
        cr_expect_eq(trace.rows[0].end_ns, i ? 3000 : 2600);
        cr_expect_eq(trace.rows[1].end_ns, 5000);
        cr_expect_eq(trace.rows[2].end_ns, 6799);
        cr_expect_eq(trace.rows[3].end_ns, 3000);
        tr_free(&trace);
    }
}

Test(trace, with_impossible_figures_has_zeros_for_them)
{
    static const char text[] = "kind\tname\tclient\tstart_ns\tend_ns\tbytes\tregisters\n"
                               "kernel\tadd\t1e300\t9\t5\tnan\t-4\n";
    struct tr_trace trace = trace_of(strdup(text));
    cr_assert_eq(trace.n, 1);
    cr_expect_eq(trace.rows[0].client, 0);
    cr_expect_eq(trace.rows[0].end_ns, 9, "no activity ends before it starts");
    cr_expect_eq(trace.rows[0].bytes, 0);
    cr_expect_eq(trace.rows[0].registers, 0);
    tr_free(&trace);
}

Test(trace, that_is_kept_and_read_again_is_the_same)
{
    struct trace_text t;
    sample(&t);
    struct tr_trace trace, again;
    struct st_error err;
    char path[] = "/tmp/convlab-trace-XXXXXX";
    close(mkstemp(path));
    trace = trace_of(t.text);
    trace.device = "NVIDIA H200";
    trace.command = "./program a\tb";
    trace.pid = 77;
    cr_assert_eq(tr_write(&trace, path, &err), ST_OK);
    cr_assert_eq(tr_read(path, &again, &err), ST_OK, "%s", err.what);
    cr_expect_str_eq(again.device, "NVIDIA H200");
    cr_expect_str_eq(again.command, "./program a?b");
    cr_expect_eq(again.pid, 77);
    cr_assert_eq(again.n, trace.n);
    cr_expect_str_eq(again.rows[3].name, "cudaLaunchKernel");
    cr_expect_eq(again.rows[2].correlation, 2);
    cr_expect_eq(again.rows[2].counters.global_load_bytes, 128);
    cr_expect_eq(tr_filter(&again, "^sub", &err), ST_OK);
    cr_expect_eq(again.n, 3, "copies and calls stay");
    cr_expect_eq(tr_filter(&again, "(", &err), ST_USAGE);
    cr_expect(strstr(err.expected, "CONTEXT:STREAM:NAME:INVOCATION"), "%s", err.expected);
    tr_free(&trace);
    tr_free(&again);
    unlink(path);
}

/* Filters four launches: add, add, ns::sub in stream 5, add. @return how many are left */
static size_t left(const char *filter)
{
    struct trace_text t;
    trace_begin(&t);
    trace_row(&t, "kernel", "add", 100, 200);
    trace_row(&t, "kernel", "add", 300, 400);
    trace_row(&t, "kernel", "ns::sub", 500, 600);
    trace_row(&t, "kernel", "add", 700, 800);
    struct tr_trace trace = trace_end(&t);
    struct st_error err;
    trace.rows[2].stream_number = 13;
    cr_assert_eq(tr_filter(&trace, filter, &err), ST_OK);
    const size_t n = trace.n;
    tr_free(&trace);
    return n;
}

Test(filter, takes_a_name_or_nvprofs_four_parts)
{
    static const struct {
        const char *filter;
        size_t left;
    } cases[] = {{"add", 3},     {"^a.*d$", 3},    {"ns::sub", 1},     {"::sub", 1},
                 {"::add:2", 1}, {"::add:4", 0},   {"1:7:add:", 3},    {"1:13::", 1},
                 {"2:::", 0},    {":13:sub:1", 1}, {"::ns::sub:1", 1}, {":::1", 2},
                 {"add|sub", 4}, {":7:sub:", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(left(cases[i].filter), cases[i].left, "%s", cases[i].filter);
}

/* @param kind  kind of the rows of cudaProfilerStart() and Stop(): a call, or the kind that the
 * CUPTI library writes
 */
static struct tr_trace range_of(const char *kind, bool from_start)
{
    struct trace_text t;
    struct st_error err;
    trace_begin(&t);
    trace_row(&t, "kernel", "before", 100, 200);
    trace_row(&t, "api", "cudaLaunchKernel", 90, 110);
    trace_row(&t, kind, "cudaProfilerStart", 300, 310);
    trace_row(&t, "kernel", "inside", 600, 700);
    trace_row(&t, "api", "cudaLaunchKernel", 390, 410);
    trace_row(&t, kind, "cudaProfilerStop", 500, 510);
    trace_row(&t, "kernel", "after", 650, 750);
    trace_row(&t, "api", "cudaLaunchKernel", 520, 530);
    struct tr_trace trace = trace_end(&t);
    cr_assert_eq(tr_profiled_range(&trace, from_start, &err), ST_OK);
    return trace;
}

Test(range, is_between_the_switches)
{
    static const char *const kinds[] = {"api", "switch"};
    for (int i = 0; i < 2; i++) {
        struct tr_trace trace = range_of(kinds[i], false);
        cr_assert_eq(trace.n, 2, "%s", kinds[i]);
        cr_expect_str_eq(trace.rows[0].name, "inside",
                         "the kernel ends after the switch, but its launch does not");
        cr_expect_str_eq(trace.rows[1].name, "cudaLaunchKernel");
        tr_free(&trace);
    }
}

Test(range, from_the_start_has_the_rows_before_the_first_switch)
{
    static const char *const kinds[] = {"api", "switch"};
    for (int i = 0; i < 2; i++) {
        struct tr_trace trace = range_of(kinds[i], true);
        cr_assert_eq(trace.n, 4, "%s", kinds[i]);
        cr_expect_str_eq(trace.rows[0].name, "before");
        cr_expect_str_eq(trace.rows[2].name, "inside");
        tr_free(&trace);
    }
}

Test(range, of_a_program_without_switches_is_all_from_the_start_and_else_nothing)
{
    for (int from_start = 0; from_start < 2; from_start++) {
        struct trace_text t;
        struct st_error err;
        trace_begin(&t);
        trace_row(&t, "kernel", "one", 100, 200);
        trace_row(&t, "api", "cudaLaunchKernel", 90, 110);
        struct tr_trace trace = trace_end(&t);
        cr_assert_eq(tr_profiled_range(&trace, from_start, &err), ST_OK);
        cr_expect_eq(trace.n, from_start ? 2 : 0);
        tr_free(&trace);
    }
}

Test(trace, has_names_of_calls_without_marks)
{
    static const char *const names[][2] = {{"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
                                           {"cuMemAlloc_v2", "cuMemAlloc"},
                                           {"__cudaLaunchKernel_ptsz", "cudaLaunchKernel"},
                                           {"cudaMemcpy_v3020", "cudaMemcpy"},
                                           {"cuStreamWaitValue32", "cuStreamWaitValue32"},
                                           {"_v2", "_v2"},
                                           {"cuda_value", "cuda_value"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct trace_text t;
        trace_begin(&t);
        trace_row(&t, "api", names[i][0], 1, 2);
        struct tr_trace trace = trace_end(&t);
        cr_expect_str_eq(trace.rows[0].name, names[i][1]);
        tr_free(&trace);
    }
}

Test(trace, has_names_that_steer_no_terminal)
{
    struct trace_text t;
    trace_begin(&t);
    trace_row(&t, "api", "red\033[31m\\n\177cudaFree", 1, 2);
    struct tr_trace trace = trace_end(&t);
    cr_assert_eq(trace.n, 1);
    cr_expect_str_eq(trace.rows[0].name, "red?[31m??cudaFree");
    tr_free(&trace);
}

Test(trace, numbers_any_number_of_streams_by_their_first_work)
{
    enum { MANY = 1000 };
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    fputs("kind\tname\tclient\tstream\tstart_ns\tend_ns\tgrid\tblock\n", out);
    fputs("kernel\tk\t1\t0\t1\t2\t1x1x1\t1x1x1\n", out);
    for (int i = 0; i < 2 * MANY; i++) /* streams get work in reverse order of creation */
        fprintf(out, "kernel\tk\t1\t%d\t%d\t%d\t1x1x1\t1x1x1\n", 255 + MANY - i % MANY, 10 * i + 10,
                10 * i + 15);
    fclose(out);
    struct tr_trace trace = trace_of(text);
    cr_expect_eq(trace.rows[0].stream_number, 7);
    for (size_t i = 0; i < 2 * MANY; i++)
        cr_expect_eq(trace.rows[i + 1].stream_number, 13 + i % MANY, "%zu", i);
    tr_free(&trace);
}

/* A shell script may start any number of programs; each can switch the profiler off only for
 * itself. */
Test(range, of_many_processes_is_kept_apart)
{
    enum { MANY = 200 };
    char *text;
    size_t bytes;
    struct st_error err;
    FILE *out = open_memstream(&text, &bytes);
    fputs("kind\tname\tclient\tstart_ns\tend_ns\tgrid\tblock\n", out);
    for (int i = 1; i <= MANY; i++)
        fprintf(out,
                "kernel\tinside\t%d\t300\t400\t1x1x1\t1x1x1\n"
                "api\tcudaLaunchKernel\t%d\t290\t310\t\t\n"
                "api\tcudaProfilerStop\t%d\t500\t510\t\t\n"
                "kernel\tafter\t%d\t700\t800\t1x1x1\t1x1x1\n"
                "api\tcudaLaunchKernel\t%d\t690\t710\t\t\n",
                i, i, i, i, i);
    fclose(out);
    struct tr_trace trace = trace_of(text);
    cr_assert_eq(tr_profiled_range(&trace, true, &err), ST_OK);
    cr_expect_eq(trace.n, 2 * MANY);
    for (size_t i = 0; i < trace.n; i += 2) {
        cr_expect_str_eq(trace.rows[i].name, "inside");
        cr_expect_eq(trace.rows[i].correlation, trace.rows[i + 1].correlation);
        cr_expect(trace.rows[i].correlation);
    }
    tr_free(&trace);
}

Test(chrome, is_json_with_an_event_for_each_row)
{
    struct trace_text t;
    sample(&t);
    struct st_error err;
    char path[] = "/tmp/convlab-chrome-XXXXXX", *text;
    close(mkstemp(path));
    struct tr_trace trace = trace_of(t.text);
    trace.command = "./a \"b\" \\ \n \xc3\xbc \xff \xed\xa0\x80 \xc3";
    cr_assert_eq(chrome_write(&trace, path, &err), ST_OK);
    text = text_of_file(path);
    cJSON *json = cJSON_Parse(text);
    cr_assert(json, "%s", text);
    const cJSON *events = cJSON_GetObjectItem(json, "traceEvents");
    cr_assert_eq(cJSON_GetArraySize(events), 2 + 2 + 4);
    cr_expect(
        strstr(
            text,
            "{\"name\":\"./a \\\"b\\\" \\\\ \\u000a \xc3\xbc \xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\"}"),
        "%s", text);
    cr_expect(strstr(text, "\"pid\":2,\"tid\":7,\"args\":{\"name\":\"Stream 7\"}"), "%s", text);
    cr_expect(strstr(text, "\"pid\":1,\"tid\":1,\"args\":{\"name\":\"Process 1\"}"), "%s", text);
    const cJSON *kernel = cJSON_GetArrayItem(events, 2 + 2 + 2);
    cr_expect_str_eq(cJSON_GetObjectItem(kernel, "ph")->valuestring, "X");
    cr_expect_float_eq(cJSON_GetObjectItem(kernel, "ts")->valuedouble, 0.3, 1e-9);
    cr_expect_float_eq(cJSON_GetObjectItem(kernel, "dur")->valuedouble, 0.1, 1e-9);
    cJSON_Delete(json);
    free(text);
    tr_free(&trace);
    unlink(path);
}

Test(demangle, writes_names_as_nvprof_does)
{
    static const char *const pairs[][2] = {
        {"plain", "plain"},
        {"_Z5emptyv", "empty(void)"},
        {"_Z9vectorAddPKfS0_Pfi", "vectorAdd(float const *, float const *, float*, int)"},
        {"_Z12sumMatrixGPUPfS_S_ii", "sumMatrixGPU(float*, float*, float*, int, int)"},
        {"_Z13matrixMulCUDAILi32EEvPfS0_S0_ii",
         "void matrixMulCUDA<int=32>(float*, float*, float*, int, int)"},
        {"_ZN5mxnet2op14forward_kernelEPfPKfS3_iiiiii",
         "mxnet::op::forward_kernel(float*, float const *, float const *, int, int, int, int, int, "
         "int)"},
        {"_ZN3labL5scaleILi32EfEEvPT0_S1_", "void lab::scale<int=32, float>(float*, float)"},
        {"_Z4pickILb1ELin3EhEvRKT1_", "void pick<bool=1, int=-3, unsigned char>(unsigned char "
                                      "const &)"},
        {"_Z3useN1a1bES0_PS0_", "use(a::b, a::b, a::b*)"},
        {"_Z4walkIN3geo5pointIdEEEvPT_S4_m",
         "void walk<geo::point<double>>(geo::point<double>*, geo::point<double>*, unsigned long)"},
    };
    char to[512];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        cr_expect(demangle(pairs[i][0], to, sizeof to), "%s", pairs[i][0]);
        cr_expect_str_eq(to, pairs[i][1], "%s: %s", pairs[i][0], to);
    }
}

#define MANY "PPPPPPPPPPPPPPPPPPPP"

Test(demangle, refuses_unknown_names)
{
    static const char *const names[] = {"",
                                        "_Z",
                                        "_Z3ab",
                                        "_Z99999999999999999999a",
                                        "_Z3fooPFvvE",
                                        "_Z3fooS_",
                                        "_Z3fooT_",
                                        "_ZN3foo",
                                        "_Z3fooIJEvv",
                                        "_Z1f" MANY MANY MANY MANY MANY "i"};
    char to[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect_not(demangle(names[i], to, sizeof to), "%s gave %s", names[i], to);
    cr_expect_not(demangle("_Z9vectorAddPKfS0_Pfi", to, 20), "no room");
}
