/* Tests how the grader reads the virtual GPU's records, and how it computes the Op Time from
 * them. */
#include "grader/session/device_record.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD                                                                                       \
    "kind\tname\tclient\tstream\tstart_ns\tend_ns\tduration_ns\tbytes\tgrid\tblock\tregisters\t"   \
    "static_shared_bytes\tdynamic_shared_bytes\toccupancy\tlimiter\terror\n"
/* kind, name, client, start, end, bytes */
#define ROW(kind, name, client, start, end, bytes)                                                 \
    kind "\t" name "\t" client "\t0\t" start "\t" end "\t0\t" bytes "\t\t\t\t\t\t\t\t0\n"
#define KERNEL(client, start, end)                                                                 \
    "kernel\tconv(a, b)\t" client "\t0\t" start "\t" end                                           \
    "\t0\t\t3x4x5\t16x8x1\t40\t1024\t64\t0.5000\tdram\t0\n"

/* B=1 M=2 C=1 H=3 W=3 K=2: x has 9 elements, k has 8, y has 8. */
static const struct conv_shape shape = {1, 2, 1, 3, 3, 2};
#define UPLOADS                                                                                    \
    ROW("copy_htod", "", "1", "0", "100", "36")                                                    \
    ROW("copy_htod", "", "1", "100", "200", "32") ROW("copy_htod", "", "1", "200", "300", "32")
#define DOWNLOADS                                                                                  \
    ROW("copy_dtoh", "", "1", "9000", "9100", "36")                                                \
    ROW("copy_dtoh", "", "1", "9100", "9200", "32")                                                \
    ROW("copy_dtoh", "", "1", "9200", "9300", "32")
#define EVENT(end) ROW("api", "cudaEventRecord", "1", "0", end, "")

static char *copy(const char *text, size_t *bytes)
{
    *bytes = strlen(text);
    return strdup(text);
}

static enum st_code parse_as(struct gr_device_record *r, const char *trace, const char *faults,
                             const char *counters, struct st_error *err)
{
    struct vg_process_record texts = {0};
    texts.trace = copy(trace, &texts.trace_bytes);
    texts.faults = copy(faults, &texts.faults_bytes);
    texts.counters = copy(counters, &texts.counters_bytes);
    texts.work = copy("kind\n", &texts.work_bytes);
    texts.proof = copy("kernel\tfact\tvalue\n", &texts.proof_bytes);
    const enum st_code code = gr_device_record_parse(r, &texts, err);
    cr_assert(!texts.trace && !texts.faults);
    return code;
}

static void parse(struct gr_device_record *r, const char *trace, const char *counters)
{
    struct st_error err;
    cr_assert_eq(parse_as(r, trace, "kind\tkernel\n", counters, &err), ST_OK, "%s", err.what);
}

/* @return the Op Time in nanoseconds; -1: the record was rejected. */
static double op_time_ns(const char *trace)
{
    struct gr_device_record r;
    double s = -1e-9;
    parse(&r, trace, "kernel\n");
    bool good = gr_device_op_time(&r, &shape, &s);
    gr_device_record_free(&r);
    return good ? s * 1e9 : -1;
}

#define cr_assert_ns(trace, expected) cr_assert_float_eq(op_time_ns(trace), expected, 1e-6)

Test(device_record, tells_how_a_kernel_was_launched)
{
    struct gr_device_record r;
    parse(&r, HEAD UPLOADS KERNEL("1", "500", "800"), "kernel\n");
    cr_assert_eq(r.rows, 4);
    const struct gr_device_row *k = &r.row[3];
    cr_assert_str_eq(k->kind, "kernel");
    cr_assert_str_eq(k->name, "conv(a, b)");
    cr_assert_eq(k->grid[0], 3);
    cr_assert_eq(k->grid[2], 5);
    cr_assert_eq(k->block[1], 8);
    cr_assert_eq(k->registers, 40);
    cr_assert_eq(k->static_shared_bytes, 1024);
    cr_assert_eq(k->dynamic_shared_bytes, 64);
    cr_assert_float_eq(k->occupancy, 0.5, 1e-9);
    cr_assert_str_eq(k->limiter, "dram");
    cr_assert_eq(r.row[0].bytes, 36);
    gr_device_record_free(&r);
}

Test(device_record, sums_counters_of_whole_kernels)
{
    struct gr_device_record r;
    parse(&r, HEAD,
          "kernel\tfile\tline\tfma\n"
          "a\t\t0\t10\na\tx.cu\t7\t10\nb\t\t0\t5\na\t\t0\t2\n");
    cr_assert_eq(gr_device_counter(&r, "a", "fma"), 12);
    cr_assert_eq(gr_device_counter(&r, NULL, "fma"), 17);
    cr_assert_eq(gr_device_counter(&r, "c", "fma"), 0);
    cr_assert_eq(gr_device_counter(&r, "a", "no such"), 0);
    gr_device_record_free(&r);
}

Test(device_record, refuses_a_damaged_table)
{
    struct gr_device_record r;
    struct st_error err;
    cr_assert_eq(parse_as(&r, "kind\tname\nkernel\n", "kind\n", "kernel\n", &err), ST_BAD_FORMAT);
}

Test(op_time, is_between_the_harness_events)
{
    cr_assert_ns(HEAD UPLOADS EVENT("400") KERNEL("1", "500", "800") EVENT("900") DOWNLOADS, 500);
}

Test(op_time, is_not_changed_by_events_and_copies_of_the_lab)
{
    cr_assert_ns(HEAD UPLOADS EVENT("400") ROW("copy_htod", "", "1", "400", "450", "36")
                     EVENT("500") KERNEL("1", "500", "800") EVENT("810") EVENT("820")
                         ROW("copy_dtoh", "", "1", "820", "850", "32") EVENT("900") DOWNLOADS,
                 500);
}

Test(op_time, has_work_that_ends_after_the_last_event)
{
    cr_assert_ns(HEAD UPLOADS EVENT("400") KERNEL("1", "500", "2000") EVENT("900") DOWNLOADS, 1600);
}

Test(op_time, has_work_outside_of_the_events)
{
    cr_assert_ns(HEAD UPLOADS KERNEL("1", "300", "350") EVENT("400") EVENT("900") DOWNLOADS, 550);
    cr_assert_ns(HEAD UPLOADS EVENT("400") EVENT("900") DOWNLOADS KERNEL("1", "9300", "9400"), 600);
}

Test(op_time, has_work_of_other_connections)
{
    cr_assert_ns(HEAD UPLOADS EVENT("400") KERNEL("2", "0", "70") EVENT("900") DOWNLOADS, 570);
}

Test(op_time, needs_the_harness_own_calls)
{
    cr_assert_eq(op_time_ns(HEAD), -1);
    cr_assert_eq(op_time_ns(HEAD UPLOADS EVENT("400") EVENT("900")), -1, "no downloads");
    cr_assert_eq(op_time_ns(HEAD UPLOADS EVENT("400") DOWNLOADS), -1, "one event");
    cr_assert_eq(op_time_ns(HEAD UPLOADS DOWNLOADS), -1, "no event");
    cr_assert_eq(op_time_ns(HEAD ROW("copy_htod", "", "1", "0", "9", "4") UPLOADS EVENT("400")
                                EVENT("900") DOWNLOADS),
                 -1, "somebody else's copy first");
}

/* ---- tensors in host memory ---- */

/* @return the Layer Time in nanoseconds; -1: the record was rejected. */
static double layer_time_ns(const char *trace)
{
    struct gr_device_record r;
    double s = -1e-9;
    parse(&r, trace, "kernel\n");
    bool good = gr_device_layer_time(&r, &s);
    gr_device_record_free(&r);
    return good ? s * 1e9 : -1;
}

Test(layer_time, lies_between_the_first_and_the_last_event)
{
    cr_assert_float_eq(layer_time_ns(HEAD EVENT("400") ROW("copy_htod", "", "1", "400", "450", "36")
                                         EVENT("460") KERNEL("1", "500", "800")
                                             ROW("copy_dtoh", "", "1", "820", "850", "32")
                                                 EVENT("900")),
                       500, 1e-6);
}

Test(layer_time, has_work_that_ends_later_or_is_done_outside)
{
    cr_assert_float_eq(
        layer_time_ns(HEAD EVENT("400") ROW("copy_dtoh", "", "1", "820", "950", "32") EVENT("900")),
        550, 1e-6);
    cr_assert_float_eq(layer_time_ns(HEAD KERNEL("1", "100", "170") EVENT("400") EVENT("900")), 570,
                       1e-6);
    cr_assert_float_eq(layer_time_ns(HEAD EVENT("400") KERNEL("2", "0", "70") EVENT("900")), 570,
                       1e-6);
}

Test(layer_time, is_that_of_the_first_connection_and_needs_two_events)
{
    cr_assert_float_eq(layer_time_ns(HEAD ROW("api", "cudaEventRecord", "2", "0", "10", "") EVENT(
                           "400") EVENT("900") ROW("api", "cudaEventRecord", "2", "0", "20", "")),
                       500, 1e-6);
    cr_assert_eq(layer_time_ns(HEAD EVENT("400")), -1);
    cr_assert_eq(layer_time_ns(HEAD), -1);
}

static struct gr_copies copies_of(const char *trace)
{
    struct gr_device_record r;
    struct gr_copies copies;
    parse(&r, trace, "kernel\tfile\tline\tfp32_fma\nconv(a, b)\t\t0\t100\n");
    cr_assert(gr_device_copies(&r, &copies));
    gr_device_record_free(&r);
    return copies;
}

#define IN(start, end)  ROW("copy_htod", "", "1", start, end, "10")
#define OUT(start, end) ROW("copy_dtoh", "", "1", start, end, "20")

Test(copies, overlap_kernels_and_the_other_direction)
{
    /* in 0..100, kernel 50..250, out 200..400, then in 300..350 */
    const struct gr_copies c =
        copies_of(HEAD IN("0", "100") KERNEL("1", "50", "250") OUT("200", "400") IN("300", "350"));
    cr_expect_eq(c.in_bytes, 20);
    cr_expect_eq(c.out_bytes, 20);
    cr_expect_eq(c.kernel_ns, 200);
    cr_expect_eq(c.copy_ns, 100 + 200 + 50);
    cr_expect_eq(c.overlapped_ns, 50 + 50 + 50 + 50, "%g", c.overlapped_ns);
    cr_expect_eq(c.crossing_ns, 50, "%g", c.crossing_ns);
}

Test(copies, one_after_the_other_do_not_overlap)
{
    const struct gr_copies c = copies_of(HEAD IN("0", "100") KERNEL("1", "100", "250") OUT(
        "250", "400") ROW("copy_dtod", "", "1", "0", "400", "9"));
    cr_expect_eq(c.copy_ns, 250);
    cr_expect_eq(c.overlapped_ns, 0);
    cr_expect_eq(copies_of(HEAD).copy_ns, 0);
}

Test(copies, of_one_direction_at_the_same_time_count_once)
{
    const struct gr_copies c = copies_of(HEAD IN("0", "100") IN("50", "150")
                                             KERNEL("1", "50", "100") KERNEL("1", "60", "90"));
    cr_expect_eq(c.copy_ns, 150);
    cr_expect_eq(c.overlapped_ns, 50);
    cr_expect_eq(c.kernel_ns, 50);
}

Test(copies, do_not_overlap_kernels_without_work)
{
    const struct gr_copies c =
        copies_of(HEAD IN("0", "100") ROW("kernel", "idle", "1", "0", "100", ""));
    cr_expect_eq(c.overlapped_ns, 0);
    cr_expect_eq(c.kernel_ns, 0);
}
