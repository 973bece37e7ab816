/* Tests of clues to a wrong shape in a submission's calls and source text. */
#include "grader/session/call_clues.h"

#include "grader/compare/element.h"
#include "grader/session/session_parts.h"
#include "grader/session/source_clues.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

static const struct conv_shape shape = {.B = 2, .M = 3, .C = 4, .H = 9, .W = 7, .K = 1};

static bool find_switch(const char *source, char to[200])
{
    char *text = strdup(source);
    const bool found = gr_clue_switch(text, "conv.cu", to, 200);
    free(text);
    return found;
}

Test(call_clues, name_a_case_without_break)
{
    char clue[200];
    cr_assert(
        find_switch("switch (K) {\ncase 3:\n f<3>(x);\ncase 5:\n f<5>(x);\n break;\n}", clue));
    cr_expect_str_eq(clue, "the case at conv.cu:2 has no break, so the next case runs, too");
    cr_expect_not(find_switch("switch (K) {\ncase 3:\ncase 4: f(x); break;\ncase 5: return 1;\n"
                              "default: f(y);\n}",
                              clue));
    cr_expect_not(find_switch("switch (K) {\ncase 3: { f(x); break; }\ncase 5: f(y);\n}", clue));
    cr_expect_not(find_switch("// case 3: f(x);\nint lower_case = 1;", clue));
}

Test(call_clues, name_a_case_without_break_in_a_macro)
{
    char clue[200];
    cr_expect(find_switch("#define CASE(N) \\\n case N: f<N>(x);\nswitch (K) {\nCASE(3)\n}", clue));
    cr_expect_not(find_switch("#define CASE(N) \\\n case N: f<N>(x); break;\n#define A 1\n", clue));
}

Test(call_clues, name_a_case_that_calls_the_instance_of_another)
{
    char clue[200];
    cr_assert(
        find_switch("switch (K) {\ncase 4: f<3><<<g, 8>>>(x); break;\ncase 5: f<5><<<g, 8>>>(x);"
                    " break;\n}",
                    clue));
    cr_expect_str_eq(clue, "case 4 at conv.cu:2 calls f<3>, which is compiled for 3 only");
    cr_expect_not(
        find_switch("switch (K) {\ncase 4: f<16>(x); break;\ncase 5: f<8>(x); break;\n}", clue),
        "no case calls the one of its number: another parameter");
    cr_assert(
        find_switch("switch (K) {\ncase 3: f<5>(x); break;\ncase 5: f<3>(x); break;\n}", clue));
    cr_expect_str_eq(clue, "case 3 at conv.cu:2 calls f<5>, which is compiled for 5 only");
}

Test(call_clues, name_a_default_that_calls_the_instance_of_a_number)
{
    char clue[200];
    cr_assert(find_switch("switch (K) {\ncase 3: f<3>(x); break;\ndefault: f<7>(x);\n}", clue));
    cr_expect_str_eq(clue,
                     "the default case at conv.cu:3 calls f<7>, which is compiled for 7 only");
    cr_expect_not(find_switch("switch (K) {\ncase 3: f<3>(x); break;\ndefault: f<0>(x);\n}", clue),
                  "0 stands for any number");
    cr_expect_not(find_switch("switch (K) {\ncase 3: f<3>(x); break;\ndefault: g<16>(x);\n}", clue),
                  "another kernel, with another parameter");
    cr_expect_not(find_switch("struct a { a() = default; };\nswitch (K) {\ncase 3: f<3>(x); "
                              "break;\ndefault: g(x);\n}",
                              clue));
}

Test(call_clues, name_bytes_that_are_as_many_as_elements)
{
    char clue[200];
    struct gr_device_row row[] = {{.kind = "copy_dtod", .bytes = 12},
                                  {.kind = "memset", .bytes = 378}};
    struct gr_device_record record = {.row = row, .rows = 2};
    cr_assert(gr_clue_bytes(&record, &shape, clue, sizeof clue));
    cr_expect_str_eq(clue,
                     "12 bytes are copied on the device: k has 12 elements, which are 48 bytes");
    row[0].bytes = 48;
    cr_assert(gr_clue_bytes(&record, &shape, clue, sizeof clue));
    cr_expect_not_null(strstr(clue, "378 bytes are set by cudaMemset: y has 378 elements"));
    row[1].bytes = 4 * 378;
    cr_expect_not(gr_clue_bytes(&record, &shape, clue, sizeof clue));
}

Test(call_clues, of_parts_look_at_all_of_them)
{
    char clue[200];
    struct gr_device_row row[4];
    for (int i = 0; i < 4; i++)
        row[i] = (struct gr_device_row){.kind = "copy_dtod", .bytes = 12};
    struct gr_device_record record = {.row = row, .rows = 4};
    cr_expect_not(gr_clue_bytes(&record, &shape, clue, sizeof clue));
}

Test(call_clues, name_a_grid_whose_axes_fit_the_other_direction)
{
    const struct conv_shape wide = {.B = 1, .M = 1, .C = 1, .H = 10, .W = 23, .K = 3};
    char clue[200];
    struct gr_device_row row = {.kind = "kernel", .grid = {1, 2, 1}, .block = {16, 16, 1}};
    const struct gr_device_record record = {.row = &row, .rows = 1};
    cr_assert(gr_clue_swapped(&record, &wide, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid has 1 x 2 blocks of 16 x 16 threads (x, y), as 8 rows along x and 21 columns along y need, but y has 21 columns and 8 rows");
    row.grid[0] = 2, row.grid[1] = 1;
    cr_expect_not(gr_clue_swapped(&record, &wide, clue, sizeof clue));
}

Test(call_clues, name_a_grid_with_too_few_blocks)
{
    const struct conv_shape high = {.B = 1, .M = 2, .C = 1, .H = 34, .W = 7, .K = 3};
    enum { ROWS = 32, COLUMNS = 5, STORED = 24 };
    float y[2 * ROWS * COLUMNS];
    char clue[200];
    struct gr_device_row row = {
        .kind = "kernel", .name = "deep", .grid = {1, 1, 2}, .block = {16, 8, 1}};
    const struct gr_device_record record = {.row = &row, .rows = 1};
    for (int i = 0; i < 2 * ROWS * COLUMNS; i++)
        if (i / COLUMNS % ROWS < STORED)
            y[i] = 1;
        else
            memcpy(&y[i], &(uint32_t){GR_POISON_BITS}, sizeof *y);
    cr_assert(gr_clue_short(&record, &high, y, NULL, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid of deep has 1 block along y, and a block stores 24 rows: 32 rows need 2 blocks");
    memcpy(&y[7], &y[ROWS * COLUMNS - 1], sizeof *y);
    cr_expect_not(gr_clue_short(&record, &high, y, NULL, clue, sizeof clue),
                  "another one is missing");
    y[7] = 1;
    row.block[1] = 9;
    cr_expect_not(gr_clue_short(&record, &high, y, NULL, clue, sizeof clue),
                  "a block of 9 does not divide 24 rows");
}

Test(call_clues, name_a_grid_with_too_few_blocks_for_maps_or_places)
{
    const struct conv_shape many = {.B = 2, .M = 9, .C = 1, .H = 6, .W = 7, .K = 1};
    enum { MAPS = 9, PLACES = 42, ALL = 2 * MAPS * PLACES };
    float y[ALL];
    char clue[200];
    struct gr_device_row row = {
        .kind = "kernel", .name = "fused", .grid = {3, 2, 1}, .block = {16, 4, 1}};
    const struct gr_device_record record = {.row = &row, .rows = 1};
    for (int i = 0; i < ALL; i++)
        memcpy(&y[i], &(uint32_t){i / PLACES % MAPS < 8 ? 0 : GR_POISON_BITS}, sizeof *y);
    cr_assert(gr_clue_short(&record, &many, y, NULL, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid of fused has 2 blocks along y, and a block stores 4 maps: 9 maps need 3 blocks");
    row.grid[1] = 3;
    cr_expect_not(gr_clue_short(&record, &many, y, NULL, clue, sizeof clue),
                  "there are enough blocks");
    row.grid[0] = 2;
    for (int i = 0; i < ALL; i++)
        memcpy(&y[i], &(uint32_t){i % PLACES < 32 ? 0 : GR_POISON_BITS}, sizeof *y);
    cr_assert(gr_clue_short(&record, &many, y, NULL, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid of fused has 2 blocks along x, and a block stores 16 outputs of a map: 42 outputs of a map need 3 blocks");
}

Test(call_clues, name_a_grid_that_is_too_short_in_two_directions)
{
    const struct conv_shape odd = {.B = 1, .M = 1, .C = 1, .H = 20, .W = 21, .K = 1};
    enum { COLUMNS = 21, ALL = 20 * COLUMNS };
    float y[ALL];
    char clue[200];
    struct gr_device_row row = {
        .kind = "kernel", .name = "tiled", .grid = {1, 1, 2}, .block = {16, 16, 1}};
    const struct gr_device_record record = {.row = &row, .rows = 1};
    for (int i = 0; i < ALL; i++)
        memcpy(&y[i], &(uint32_t){i / COLUMNS < 16 && i % COLUMNS < 16 ? 0 : GR_POISON_BITS},
               sizeof *y);
    cr_assert(gr_clue_short(&record, &odd, y, NULL, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid of tiled has 1 block along x, and a block stores 16 columns: 21 columns need 2 blocks");
    row.grid[2] = 1;
    cr_expect(gr_clue_short(&record, &odd, y, NULL, clue, sizeof clue));
    cr_expect_str_empty(clue, "blocks along z may be the tiles");
    memcpy(&y[16], &y[0], sizeof *y);
    cr_expect_not(gr_clue_short(&record, &odd, y, NULL, clue, sizeof clue),
                  "one more was written: no rectangle");
}

Test(call_clues, name_a_grid_with_too_few_blocks_for_tiles_or_single_maps)
{
    const struct conv_shape odd = {.B = 1, .M = 1, .C = 1, .H = 20, .W = 21, .K = 1};
    const struct conv_shape maps = {.B = 2, .M = 5, .C = 1, .H = 2, .W = 2, .K = 1};
    enum { COLUMNS = 21, ALL = 20 * COLUMNS };
    float y[ALL];
    char clue[200];
    struct gr_device_row row = {
        .kind = "kernel", .name = "tiled", .grid = {1, 1, 3}, .block = {16, 16, 1}};
    const struct gr_device_record record = {.row = &row, .rows = 1};
    for (int i = 0; i < ALL; i++)
        memcpy(&y[i], &(uint32_t){i / COLUMNS < 16 || i % COLUMNS < 16 ? 0 : GR_POISON_BITS},
               sizeof *y);
    cr_assert(gr_clue_short(&record, &odd, y, NULL, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid of tiled has 3 blocks along z, and a block stores 16 rows and 16 columns: a map of 20 rows and 21 columns needs 4 blocks");
    for (int i = 0; i < 2 * 5 * 4; i++)
        memcpy(&y[i], &(uint32_t){i / 4 % 5 < 2 ? 0 : GR_POISON_BITS}, sizeof *y);
    row.grid[1] = 2, row.grid[2] = 1;
    cr_assert(gr_clue_short(&record, &maps, y, NULL, clue, sizeof clue));
    cr_expect_str_eq(
        clue,
        "the grid of tiled has 2 blocks along y, and a block stores 1 map: 5 maps need 5 blocks");
    row.grid[0] = 2;
    cr_expect(gr_clue_short(&record, &maps, y, NULL, clue, sizeof clue));
    cr_expect_str_empty(clue, "two axes have as many blocks");
}

Test(call_clues, name_axes_that_are_swapped)
{
    char clue[300];
    struct gr_device_row row = {.kind = "kernel", .name = "conv", .grid = {2, 3, 1}};
    struct gr_device_record record = {.row = &row, .rows = 1};
    const char *finding =
        "out_of_bounds at conv.cu:25, kernel conv, block 0,2,0, thread 0,0,0: directly "
        "past the end of the 2016-byte allocation, as large as x";
    cr_assert(gr_clue_axes(&record, &shape, finding, clue, sizeof clue));
    cr_expect_not_null(strstr(clue, "blockIdx.y is 2 there, in a grid of (2,3,1) blocks"));
    cr_expect_not(
        gr_clue_axes(&record, &shape,
                     "out_of_bounds at conv.cu:25, kernel conv, block 0,1,0, thread 0,0,0: "
                     "directly past the end of",
                     clue, sizeof clue));
    cr_expect_not(gr_clue_axes(&record, &shape,
                               "out_of_bounds at conv.cu:25, kernel conv, block 0,2,0, thread "
                               "0,0,0: directly past the end of the 2016-byte allocation",
                               clue, sizeof clue),
                  "memory of the submission's own");
    row.grid[0] = 4;
    cr_expect_not(gr_clue_axes(&record, &shape, finding, clue, sizeof clue));
    const struct conv_shape one_image = {.B = 1, .M = 3, .C = 4, .H = 9, .W = 7, .K = 1};
    row.grid[0] = 1;
    cr_expect_not(gr_clue_axes(&record, &one_image, finding, clue, sizeof clue),
                  "an axis of one block may have any meaning");
}

Test(session_limit, names_the_limit_that_was_reached)
{
    char text[64];
    struct gr_session session = GR_SESSION_CLOSED;
    gr_session_limit_text(&session, 30, text);
    cr_expect_str_eq(text, "30 s");
    session.worked_long = true;
    gr_session_limit_text(&session, 30, text);
    cr_expect_str_eq(text, "3 s of the virtual GPU's processor time");
}

Test(session_limit, names_the_place_of_a_program_that_waits_for_its_kernel)
{
    struct gr_session session = GR_SESSION_CLOSED;
    const struct runner_reply reply = {.kind = RUNNER_CRASHED, .signal = SIGXCPU};
    struct gr_run run = {.message = ""};
    gr_session_explain_crash(&session, &reply, &shape, 30, &run);
    cr_expect_not_null(strstr(run.message, "it was in a library that your code called"));
    session.worked_long = true;
    gr_session_explain_crash(&session, &reply, &shape, 30, &run);
    cr_expect_not_null(strstr(run.message, "it was in a kernel"));
    cr_expect_not_null(strstr(run.hint, "gridDim.x * blockDim.x"));
}

Test(call_clues, name_threads_that_returned_before_a_barrier)
{
    static const char work[] = "kind\tname\tleft\n"
                               "kernel\t_Z5firstPf\t\n"
                               "kernel\t_Z4convPf\t3 of the block's 8 threads returned\n";
    struct gr_device_record record = {0};
    struct st_error err;
    char clue[256];
    cr_expect_not(gr_clue_left(&record, clue, sizeof clue));
    cr_assert_eq(tsv_parse(strdup(work), strlen(work), "work", &record.work, &err), ST_OK);
    cr_assert(gr_clue_left(&record, clue, sizeof clue));
    cr_expect_str_eq(clue, "in kernel conv, 3 of the block's 8 threads returned");
    tsv_free(&record.work);
}

static bool find_arguments(const char *source, char to[200])
{
    char *text = strdup(source);
    const bool found = gr_clue_arguments(text, "conv.cu", to, 200);
    free(text);
    return found;
}

Test(call_clues, name_exchanged_arguments)
{
    char clue[200];
    const char kernel[] = "__global__ void conv(const float *x, const float *k, float *y, int M,\n"
                          "int C, int H)\n{\n}\n";
    char text[600];
    snprintf(text, sizeof text, "%s conv<<<n, 256>>>(x, k, y, s->C, s->M, s->H);", kernel);
    cr_assert(find_arguments(text, clue));
    cr_expect_str_eq(clue,
                     "the launch of conv at conv.cu:5 passes C as its parameter M, and M as C");
    snprintf(text, sizeof text, "%s conv<<<f(n), g(1, 2)>>>\n (k, x, y, M, C, H);", kernel);
    cr_assert(find_arguments(text, clue));
    cr_expect_str_eq(clue,
                     "the launch of conv at conv.cu:5 passes k as its parameter x, and x as k");
    snprintf(text, sizeof text,
             "template <int K>\n%s f(conv<5>); conv<5><<<n, 9>>>(x + 1, k, y, s.C, s.M, s.H);",
             kernel);
    cr_assert(find_arguments(text, clue));
}

Test(call_clues, accept_arguments_in_order)
{
    static const char *const launches[] = {
        "conv<<<n, 256>>>(x, k, y, s->M, s->C, s->H);",
        "conv<<<n, 256>>>(d_x, d_k, d_y, s->M, C, (int)s->H);",
        "conv<<<n, 256>>>(x, k, y, C, C, s->H);",          /* one exchange alone does not count */
        "conv<<<n, 256>>>(x, k, y, C * 2, M + 1, s->H);",  /* expressions have a reason */
        "conv<<<n, 256>>>(x, k, y, s->C, s->M);",          /* does not compile */
        "// conv<<<n, 256>>>(x, k, y, s->C, s->M, s->H);", /* a comment */
        "other<<<n, 256>>>(x, k, y, s->C, s->M, s->H);",   /* a kernel of another file */
        "__global__ void conv(int) {} conv<<<n, 256>>>(x, k, y, C, M, H);", /* overloaded */
        "conv<<<n, 256>>>(x, k, y, s->C",
    };
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        char clue[200], text[600];
        snprintf(text, sizeof text,
                 "__global__ void conv(const float *x, const float *k, float *y, int M, int C, int "
                 "H) {}\n%s",
                 launches[i]);
        cr_expect_not(find_arguments(text, clue), "%s: %s", launches[i], clue);
    }
}

static bool find_power(const char *source)
{
    char clue[200], *text = strdup(source);
    const bool found = gr_clue_power(text, "conv.c", clue, sizeof clue);
    free(text);
    return found;
}

Test(call_clues, name_an_exclusive_or_for_a_power)
{
    cr_expect(find_power("k[(m * C + c) * K^2 + p * K + q]"));
    cr_expect(find_power("(K ^ 2)"));
    cr_expect_not(find_power("lane ^ 2, K ^ 20, K ^ 2u, MASK^2, K ^ x /* K^2 */"));
}

static const char *place_of(const char *source, const char *name, bool is_kernel)
{
    static char clue[200];
    char *text = strdup(source);
    gr_clue_place(text, "conv.cu", name, is_kernel, clue, sizeof clue);
    free(text);
    return clue;
}

Test(call_clues, name_the_place_of_a_call)
{
    const char *const calls = "// cudaFree(a);\ncudaFree(a); cudaFree(b);\n"
                              "e = cudaMemcpyToSymbol<float>\n(k, x, 4);\ncudaFreeAsync(c, s);\n"
                              "cudaFree(c);\ncudaMalloc;\n";
    cr_expect_str_eq(place_of(calls, "cudaMemcpyToSymbol", false), " at conv.cu:3");
    cr_expect_str_eq(place_of(calls, "cudaFree", false), " (conv.cu:2 or 6)");
    cr_expect_str_empty(place_of(calls, "cudaMalloc", false));
    cr_expect_str_empty(place_of("f();\nf();\nf();\nf();\nf();\n", "f", false));
    cr_expect_str_eq(place_of("f();\nf();\nf();\n", "f", false), " (conv.cu:1, 2 or 3)");
    const char *const launches =
        "void conv(int);\nconv(3);\nconv<3> <<<1, 2>>>(3);\nconv2<<<1, 2>>>();";
    cr_expect_str_eq(place_of(launches, "conv", true), " at conv.cu:3");
    cr_expect_str_eq(place_of(launches, "conv2", true), " at conv.cu:4");
}
