/* Tests of the sizes of a grading, and of the rubric items that they leave out. */
#include "grader/course/options.h"

#include <criterion/criterion.h>

static struct gr_item items[] = {{.id = "builds"},         {.id = "inference_1000"},
                                 {.id = "inference_10"},   {.id = "speed"},
                                 {.id = "inference_many"}, {.id = "inference_20000"}};
static const struct gr_rubric rubric = {.items = items,
                                        .items_count = sizeof items / sizeof *items};

static const char *sizes_of(struct gr_options options, const struct gr_rubric *of)
{
    static char text[GR_IMAGES_CHARS];
    gr_options_choose(&options, of);
    return gr_options_images(&options, text);
}

Test(options, sizes_are_the_rubrics_unless_others_are_given)
{
    const struct gr_rubric silent = {.items = items, .items_count = 1};
    struct gr_options o = gr_options_default();
    cr_expect_str_eq(sizes_of(o, &rubric), "10,100,1000", "speed needs 100");
    struct gr_item of_products[] = {{.id = "size_300"}, {.id = "speed"}};
    const struct gr_rubric product = {.milestone = "g3", .items = of_products, .items_count = 2};
    cr_expect_str_eq(sizes_of(o, &product), "300,1024", "speed needs 1024");
    cr_expect_str_eq(sizes_of(o, &silent), "100,1000,10000");
    cr_expect_str_eq(sizes_of(o, NULL), "100,1000,10000");
    o.quick = true;
    cr_expect_str_eq(sizes_of(o, &rubric), "10");
    char asked[] = "500,20";
    gr_options_take_images(&o, asked, NULL, NULL);
    cr_expect_str_eq(sizes_of(o, &rubric), "20,500");
}

Test(options, size_and_model_are_those_that_speed_is_timed_at)
{
    struct gr_timed timed = {.images = 5000, .model = "two-layer-86", .gpu = "A40"};
    struct gr_item of_timed[] = {{.id = "inference_10"}, {.id = "speed", .timed = &timed}};
    const struct gr_rubric course = {.milestone = "m9", .items = of_timed, .items_count = 2};
    struct gr_options o = gr_options_default(), asked = o;
    cr_expect_str_eq(sizes_of(o, &course), "10,5000");
    gr_options_choose(&o, &course);
    cr_expect_str_eq(o.model, "two-layer-86");
    asked.model = "one-layer-low";
    gr_options_choose(&asked, &course);
    cr_expect_str_eq(asked.model, "one-layer-low");
    timed.model = NULL;
    o = gr_options_default();
    gr_options_choose(&o, &course);
    cr_expect_str_eq(o.model, GR_DEFAULT_MODEL);
    o = gr_options_default();
    gr_options_choose(&o, &rubric);
    cr_expect_str_eq(o.model, GR_DEFAULT_MODEL);
    o = gr_options_default();
    gr_options_choose(&o, NULL);
    cr_expect_str_eq(o.model, GR_DEFAULT_MODEL);
}

Test(options, items_of_other_sizes_are_not_requested)
{
    struct gr_options o = gr_options_default();
    gr_options_choose(&o, &rubric);
    for (size_t i = 0; i < 4; i++)
        cr_expect(gr_options_ask_for(&o, &items[i]), "%s", items[i].id);
    cr_expect(gr_item_images(&items[1]) == 1000 && !gr_item_images(&items[4]) &&
              !gr_item_images(&items[5]));
    o.sizes = 1; /* 10 */
    cr_expect(gr_options_ask_for(&o, &items[0]) && gr_options_ask_for(&o, &items[2]));
    cr_expect(!gr_options_ask_for(&o, &items[1]) && !gr_options_ask_for(&o, &items[3]));
    o.sizes = 2; /* 10 and 100 */
    cr_expect(gr_options_ask_for(&o, &items[3]));
    o.quick = true;
    cr_expect(!gr_options_ask_for(&o, &items[3]), "--quick judges no speed");
}
