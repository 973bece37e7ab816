/* Tests of rubrics: the ways in which the item "speed" can give points, and files that are rejected
 * with a one-line message. */
#include "grader/course/rubric.h"

#include "base/tests/temp_folder.h"

#include <stdio.h>
#include <string.h>

TestSuite(rubric, .init = temp_folder_make, .fini = temp_folder_remove);

/* Writes a rubric in which the item with this id has these lines. */
static const char *write_rubric(const char *id, const char *lines)
{
    char text[2000];
    const int n = snprintf(text, sizeof text,
                           "milestone: m3\ntitle: T\ntechnique: t\nitems:\n  - id: %s\n    kind: "
                           "automatic\n    points: 15\n%s    text: fast\n",
                           id, lines);
    return temp_file("rubric.yaml", text, (size_t)n);
}

static struct gr_rubric *accepted(const char *lines)
{
    struct gr_rubric *rubric;
    struct st_error err = {0};
    cr_assert_eq(gr_rubric_load(&rubric, write_rubric("speed", lines), &err), ST_OK, "%s: %s, %s",
                 lines, err.what, err.got);
    return rubric;
}

static void expect_refused(const char *id, const char *lines, const char *what, const char *got)
{
    struct gr_rubric *rubric;
    struct st_error err = {0};
    cr_expect_eq(gr_rubric_load(&rubric, write_rubric(id, lines), &err), ST_BAD_FORMAT, "%s",
                 lines);
    cr_expect(!rubric && strstr(err.what, what) && strstr(err.got, got), "%s: %s, got %s", lines,
              err.what, err.got);
    cr_expect(strstr(err.where, "rubric.yaml") && !strchr(err.what, '\n'), "%s", err.where);
}

Test(rubric, speed_gives_points_in_steps_or_on_a_scale)
{
    struct gr_rubric *rubric = accepted("    at_most: [2, 4, 8]\n");
    const struct gr_item *item = gr_rubric_item(rubric, "speed");
    cr_expect(gr_item_speed_points(item, 2) == 15 && gr_item_speed_points(item, 3) == 10);
    cr_expect(gr_item_speed_points(item, 8) == 5 && gr_item_speed_points(item, 8.1) == 0);
    cr_expect(gr_item_speed_images(item, 100) == 100 && !gr_item_speed_model(item));
    gr_rubric_free(rubric);

    rubric = accepted("    linear: [2, 8]\n");
    item = gr_rubric_item(rubric, "speed");
    cr_expect(gr_item_speed_points(item, 0.1) == 15 && gr_item_speed_points(item, 2) == 15);
    cr_expect(gr_item_speed_points(item, 5) == 7.5 && gr_item_speed_points(item, 8) == 0);
    cr_expect(gr_item_speed_points(item, 2.001) == 14.9, "not all of them, and tenths");
    gr_rubric_free(rubric);

    rubric = accepted(
        "    linear: [50, 75]\n    timed: {images: 5000, model: two-layer-86, gpu: A40}\n");
    item = gr_rubric_item(rubric, "speed");
    cr_expect(gr_item_speed_images(item, 100) == 5000);
    cr_expect_str_eq(gr_item_speed_model(item), "two-layer-86");
    cr_expect_str_eq(item->timed->gpu, "A40");
    gr_rubric_free(rubric);

    rubric = accepted(
        "    linear: [1500, 2000]\n    timed:\n      images: 10000\n      gpu: virtual:t4\n");
    cr_expect_str_eq(gr_item_speed_model(gr_rubric_item(rubric, "speed")), "two-layer");
    gr_rubric_free(rubric);
}

Test(rubric, refuses_items_that_give_no_points_for_speed)
{
    static const char timed[] = "    timed: {images: 100, gpu: A40}\n";
    char lines[200];
    expect_refused("speed", "", "lacks at_most or linear", "");
    expect_refused("speed", timed, "lacks at_most or linear", "");
    expect_refused("speed", "    at_most: [2]\n    linear: [2, 8]\n", "has at_most and linear", "");
    snprintf(lines, sizeof lines, "    at_most: [2]\n%s", timed);
    expect_refused("speed", lines, "has at_most and timed", "");
    expect_refused("builds", "    linear: [2, 8]\n", "item 'builds' has linear", "");
    expect_refused("builds", timed, "item 'builds' has timed", "");
    expect_refused("builds", "    at_most: [2]\n", "item 'builds' has at_most", "");
    expect_refused("speed", "    at_most: [3, 2]\n", "invalid at_most", "2");
    expect_refused("speed", "    at_most: [0, 2]\n", "invalid at_most", "0");
}

Test(rubric, refuses_scales_that_are_none)
{
    static const struct {
        const char *numbers, *what, *got;
    } wrong[] = {{"[2]", "count of numbers in linear", "1"},
                 {"[2, 4, 8]", "count of numbers in linear", "3"},
                 {"[8, 2]", "invalid linear", "2"},
                 {"[2, 2]", "invalid linear", "2"},
                 {"[0, 2]", "invalid linear", "0"},
                 {"[-1, 2]", "invalid linear", "-1"},
                 {"[2, 1001]", "invalid linear", "1001"},
                 {"[.nan, 2]", "", ""},
                 {"[two, 8]", "", ""},
                 {"50", "", ""}};
    char lines[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(lines, sizeof lines, "    linear: %s\n", wrong[i].numbers);
        expect_refused("speed", lines, wrong[i].what, wrong[i].got);
    }
}

Test(rubric, refuses_items_that_cannot_be_timed)
{
    static const struct {
        const char *timed, *what, *got;
    } wrong[] = {{"{images: 0, gpu: A40}", "invalid timed: images", "0"},
                 {"{images: 10001, gpu: A40}", "invalid timed: images", "10001"},
                 {"{images: 100}", "Missing required mapping field", ""},
                 {"{gpu: A40}", "Missing required mapping field", ""},
                 {"{images: 100, gpu: virtual}", "does not name a GPU", ""},
                 {"{images: 100, gpu: 'virtual:'}", "does not name a GPU", ""},
                 {"{images: 100, gpu: A40, weights: x}", "Unexpected key", ""}};
    char lines[200];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(lines, sizeof lines, "    linear: [50, 75]\n    timed: %s\n", wrong[i].timed);
        expect_refused("speed", lines, wrong[i].what, wrong[i].got);
    }
}
