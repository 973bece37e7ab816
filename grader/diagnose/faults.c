#include "grader/diagnose/faults.h"

#include <math.h>

/* ---- indices, ranges, values ---------------------------------------------------------------- */

#define NAMES                                                                                      \
    __attribute__((unused)) const ptrdiff_t B = s->B, M = s->M, C = s->C, H = s->H, W = s->W,      \
                                            K = s->K, H_out = H - K + 1, W_out = W - K + 1

#define INDEX(name, expression)                                                                    \
    static ptrdiff_t name(const struct conv_shape *s, const struct gr_turn *turn)                  \
    {                                                                                              \
        NAMES;                                                                                     \
        __attribute__((unused)) const ptrdiff_t b = turn->b, m = turn->m, c = turn->c,             \
                                                h = turn->h, w = turn->w, p = turn->p,             \
                                                q = turn->q, n = turn->n;                          \
        return expression;                                                                         \
    }

#define LOOPS(name, statements)                                                                    \
    static void name(const struct conv_shape *s, int n, struct gr_loops *l)                        \
    {                                                                                              \
        NAMES;                                                                                     \
        (void)n;                                                                                   \
        statements;                                                                                \
    }

#define FINISH(name, expression)                                                                   \
    static double name(const struct conv_shape *s, double sum)                                     \
    {                                                                                              \
        NAMES;                                                                                     \
        return expression;                                                                         \
    }

/* The index into an image with zeros around it. */
static ptrdiff_t padded(const struct conv_shape *s, const struct gr_turn *turn, ptrdiff_t pad)
{
    ptrdiff_t h = turn->h + turn->p - pad, w = turn->w + turn->q - pad;
    if (h < 0 || h >= s->H || w < 0 || w >= s->W)
        return GR_ADDS_NOTHING;
    return ((turn->b * s->C + turn->c) * s->H + h) * s->W + w;
}
#include "grader/diagnose/faults.def"

/* ---- the table ------------------------------------------------------------------------------ */

#define HINT_ORIENTATION                                                                           \
    "Take K = 2 and write down the four products of y[0,0,0,0] by hand: which element of k meets " \
    "x[h+p, w+q]? This lab's convolution does not flip the filter."
#define HINT_K_INDEX                                                                               \
    "Compare your index into k with its layout [M][C][K][K]: each index is multiplied by the "     \
    "sizes of all dimensions to its right."
#define HINT_GROUPS                                                                                \
    "Follow m from the group of maps that a block or thread has to the weights it reads: where "   \
    "is "                                                                                          \
    "the group's number, and where the map's number within it, in that index?"
#define HINT_X_INDEX                                                                               \
    "Compare your index into x with its layout [B][C][H][W]: each index is multiplied by the "     \
    "sizes of all dimensions to its right."
#define HINT_Y_INDEX                                                                               \
    "Compare your index into y with its layout [B][M][H_out][W_out]: each index is multiplied by " \
    "the sizes of all dimensions to its right."
#define HINT_OUT                                                                                   \
    "How many positions has a filter of width 3 on a row of 5 elements? Draw them, and check "     \
    "your "                                                                                        \
    "formula for H_out and W_out with it."
#define HINT_SQUARE                                                                                \
    "Square images hide this. Go through every H and W in your loops and indices with a 2 x 5 "    \
    "image in mind: H counts rows, W is the length of one row."
#define HINT_SUM                                                                                   \
    "One output is the sum of C*K*K products. Where is the sum set to zero, where is it added "    \
    "to, "                                                                                         \
    "and where is it stored? How often does each of these happen per output?"
#define HINT_TAPS                                                                                  \
    "The filter has K*K elements, p and q from 0 to K-1. Print the pairs (p, q) that your loops "  \
    "visit for K = 2."
#define HINT_CHANNELS                                                                              \
    "Every output map sees all C input maps. Print the values of c that your loop visits for "     \
    "C = 3; a loop unrolled by a fixed number needs another one for what is left over."
#define HINT_PRODUCTS                                                                              \
    "C*K*K need not be a multiple of the tile, or of the number of products taken at a time: "     \
    "what "                                                                                        \
    "happens to the last, incomplete one?"
#define HINT_WINDOW                                                                                \
    "For the first output (h, w) = (0, 0), the window covers rows 0..K-1 and columns 0..K-1 of "   \
    "x. "                                                                                          \
    "Which does yours cover?"
#define HINT_FINISH                                                                                \
    "y is the plain sum of the products. What else happens to it before it is stored? Bias, "      \
    "activation and averaging are other layers' work."

#define LEFTOVER(size)                                                                             \
    {                                                                                              \
        .id = "leftover_channels", .loops = c_whole_n, .n = size, .hint = HINT_CHANNELS,           \
        .says = "every output leaves out the input channels after the last whole group of %d"      \
    }
#define ROUNDED_UP(size)                                                                           \
    {                                                                                              \
        .id = "leftover_channels", .loops = c_rounded_up_n, .n = size, .hint = HINT_CHANNELS,      \
        .says = "every output adds channels that do not exist, up to a whole group of %d"          \
    }
#define LEFTOVER_PRODUCTS(size)                                                                    \
    {                                                                                              \
        .id = "leftover_products", .k = k_whole_n, .n = size, .hint = HINT_PRODUCTS,               \
        .says = "every output leaves out those of its C*K*K products after the last whole %d"      \
    }
#define LEFTOVER_COLUMNS(size)                                                                     \
    {                                                                                              \
        .id = "filter_loop_too_short", .loops = q_whole_n, .n = size, .hint = HINT_TAPS,           \
        .says = "every output leaves out the filter columns after the last whole group of %d"      \
    }

#define WEIGHTS_OF_GROUP(size)                                                                     \
    {.id = "weights_of_group",                                                                     \
     .k = k_first_of_n,                                                                            \
     .n = size,                                                                                    \
     .hint = HINT_GROUPS,                                                                          \
     .says = "every output map is computed with the filters of the first map of its group of %d"}, \
    {                                                                                              \
        .id = "weights_of_group", .k = k_modulo_n, .n = size, .hint = HINT_GROUPS,                 \
        .says = "every group of %d output maps is computed with the filters of the first group"    \
    }

const struct gr_fault gr_faults[] = {
    /* The filter's orientation. Reading x[h+q, w+p] is the same thing as k[q, p]. */
    {"weights_flipped",
     "every output equals the convolution with the filter rotated by 180 degrees", HINT_ORIENTATION,
     .k = k_rotated_180},
    {"weights_flipped",
     "every output equals the convolution with the filter upside down (p reversed)",
     HINT_ORIENTATION, .k = k_upside_down},
    {"weights_flipped", "every output equals the convolution with the filter mirrored (q reversed)",
     HINT_ORIENTATION, .k = k_mirrored},
    {"weights_transposed",
     "every output equals the convolution with the filter transposed (p and q exchanged in k or in "
     "x)",
     HINT_ORIENTATION, .k = k_transposed},
    {"weights_transposed",
     "every output equals the convolution with the filter transposed along its other diagonal",
     HINT_ORIENTATION, .k = k_other_diagonal},
    {"weights_rotated", "every output equals the convolution with the filter rotated by 90 degrees",
     HINT_ORIENTATION, .k = k_rotated_left},
    {"weights_rotated", "every output equals the convolution with the filter rotated by 90 degrees",
     HINT_ORIENTATION, .k = k_rotated_right},

    /* The other indices of k. */
    {"weights_m_c_transposed", "every output uses k[c, m, p, q] in place of k[m, c, p, q]",
     HINT_K_INDEX, .k = k_c_m},
    {"weights_m_c_transposed", "every output uses k[c, m, p, q], with rows of C filters",
     HINT_K_INDEX, .k = k_c_m_stride_c},
    {"weights_stride", "every output steps M filters, not C, from one output map to the next in k",
     HINT_K_INDEX, .k = k_stride_m},
    {"weights_stride", "every output steps one filter, not C, from one output map to the next in k",
     HINT_K_INDEX, .k = k_stride_1},
    {"weights_tap_ignored", "every output uses the first element of each filter for all of it",
     HINT_K_INDEX, .k = k_without_p_q},
    {"weights_tap_ignored", "every output uses the first weight of its map for all products",
     HINT_K_INDEX, .k = k_first},
    WEIGHTS_OF_GROUP(2),
    WEIGHTS_OF_GROUP(3),
    WEIGHTS_OF_GROUP(4),
    WEIGHTS_OF_GROUP(5),
    WEIGHTS_OF_GROUP(6),
    WEIGHTS_OF_GROUP(8),
    WEIGHTS_OF_GROUP(10),
    WEIGHTS_OF_GROUP(12),
    WEIGHTS_OF_GROUP(16),
    WEIGHTS_OF_GROUP(24),
    WEIGHTS_OF_GROUP(32),
    {"weights_channel_ignored", "every output uses the filter of channel 0 for all channels",
     HINT_K_INDEX, .k = k_without_c},
    {"weights_channel_ignored",
     "every output uses filter number m of k for all channels, c is not in the index", HINT_K_INDEX,
     .k = k_without_c_stride},
    {"weights_map_ignored", "every output map is computed with the filters of map 0", HINT_K_INDEX,
     .k = k_without_m},
    {"weights_map_ignored", "every output uses the first filter of k for all maps and channels",
     HINT_K_INDEX, .k = k_without_m_c},
    {"channels_last", "every output reads k as if c were its last dimension", HINT_K_INDEX,
     .k = k_channels_last},
    {"channels_last", "every output reads k as if it were laid out [K][K][C][M]", HINT_K_INDEX,
     .k = k_maps_last},

    {"x_k_swapped", "every output that can be told equals the convolution with x and k exchanged",
     "Compare the order of the parameters of conv_forward with common/conv.h: which pointer do you "
     "index as the image, which as the weights?",
     .swapped = true},

    /* The sum. */
    {"channels_not_summed", "every output holds the last input channel only",
     HINT_SUM " Here each channel replaces the one before.", .loops = c_last},
    {"channels_not_summed", "every output holds the first input channel only",
     HINT_SUM " Here channel 0 is all that is used.", .loops = c_first},
    {"channel_skipped", "every output leaves out input channel 0", HINT_CHANNELS,
     .loops = c_from_1},
    {"channel_skipped", "every output leaves out the last input channel", HINT_CHANNELS,
     .loops = c_to_n, .n = -1},
    {"channel_count", "every output sums one input channel too many", HINT_CHANNELS,
     .loops = c_to_n, .n = 1},
    {"channel_count", "every output sums M input channels in place of C", HINT_CHANNELS,
     .loops = c_to_m},
    {"channel_count", "every output sums B input channels in place of C", HINT_CHANNELS,
     .loops = c_to_b},
    {"channel_count", "every output sums K input channels in place of C", HINT_CHANNELS,
     .loops = c_to_k},
    LEFTOVER(2),
    LEFTOVER(3),
    LEFTOVER(4),
    LEFTOVER(5),
    LEFTOVER(6),
    LEFTOVER(7),
    LEFTOVER(8),
    LEFTOVER(16),
    LEFTOVER(32),
    ROUNDED_UP(2),
    ROUNDED_UP(4),
    ROUNDED_UP(8),
    ROUNDED_UP(16),
    LEFTOVER_PRODUCTS(2),
    LEFTOVER_PRODUCTS(4),
    LEFTOVER_PRODUCTS(8),
    LEFTOVER_PRODUCTS(16),
    LEFTOVER_PRODUCTS(32),
    LEFTOVER_COLUMNS(2),
    LEFTOVER_COLUMNS(4),
    {"taps_not_summed", "every output holds the last filter row of the last channel only", HINT_SUM,
     .loops = c_p_last},
    {"taps_not_summed", "every output holds its last product only", HINT_SUM, .loops = all_last},
    {"taps_not_summed", "every output holds its first product only", HINT_SUM, .loops = all_first},
    {"taps_not_summed", "every output holds the last filter row only", HINT_SUM, .loops = p_last},
    {"taps_not_summed", "every output holds the last filter column only", HINT_SUM,
     .loops = q_last},
    {"taps_not_summed", "every output holds the last filter element of each channel only", HINT_SUM,
     .loops = p_q_last},
    {"filter_loop_too_short", "every output leaves out the last row of the filter", HINT_TAPS,
     .loops = p_to_n, .n = -1},
    {"filter_loop_too_short", "every output leaves out the last column of the filter", HINT_TAPS,
     .loops = q_to_n, .n = -1},
    {"filter_loop_too_short",
     "every output leaves out the last column of the filter, and reads k as if it had none",
     HINT_TAPS, .k = k_short_rows, .loops = q_to_n, .n = -1},
    {"filter_loop_too_short", "every output leaves out the last row and column of the filter",
     HINT_TAPS, .loops = p_q_to_n, .n = -1},
    {"filter_loop_too_short", "every output leaves out the first row of the filter", HINT_TAPS,
     .loops = p_from_1},
    {"filter_loop_too_short", "every output leaves out the first column of the filter", HINT_TAPS,
     .loops = q_from_1},
    {"filter_loop_too_short", "every output leaves out the first row and column of the filter",
     HINT_TAPS, .loops = p_q_from_1},
    {"filter_loop_too_long", "every output adds one filter row too many", HINT_TAPS,
     .loops = p_to_n, .n = 1},
    {"filter_loop_too_long", "every output adds one filter column too many", HINT_TAPS,
     .loops = q_to_n, .n = 1},
    {"filter_loop_too_long", "every output adds one filter row and one column too many", HINT_TAPS,
     .loops = p_q_to_n, .n = 1},
    {"filter_size_fixed", "every output sums over %d x %d filter elements whatever K is", HINT_TAPS,
     .loops = p_q_to_fixed_n, .n = 3},
    {"filter_size_fixed", "every output reads k as filters of %d x %d whatever K is", HINT_TAPS,
     .k = k_size_n, .loops = p_q_to_fixed_n, .n = 3},
    {"filter_size_fixed", "every output sums over %d x %d filter elements whatever K is", HINT_TAPS,
     .loops = p_q_to_fixed_n, .n = 5},
    {"filter_size_fixed", "every output reads k as filters of %d x %d whatever K is", HINT_TAPS,
     .k = k_size_n, .loops = p_q_to_fixed_n, .n = 5},
    {"filter_size_fixed", "every output sums over %d x %d filter elements whatever K is", HINT_TAPS,
     .loops = p_q_to_fixed_n, .n = 7},
    {"filter_size_fixed", "every output reads k as filters of %d x %d whatever K is", HINT_TAPS,
     .k = k_size_n, .loops = p_q_to_fixed_n, .n = 7},
    {"filter_loop_from_one", "every output sums over p and q from 1 to K in place of 0 to K-1",
     HINT_TAPS, .loops = p_q_from_1_to_k},
    {"sum_not_reset", "every output contains all outputs before it", HINT_SUM, .chain = GR_NEVER},
    {"sum_not_reset", "every output contains all outputs before it in its image", HINT_SUM,
     .chain = GR_EACH_IMAGE},
    {"sum_not_reset", "every output contains all outputs before it in its map", HINT_SUM,
     .chain = GR_EACH_MAP},
    {"sum_not_reset", "every output contains all outputs before it in its row", HINT_SUM,
     .chain = GR_EACH_ROW},

    /* The indices of x. */
    {"only_image_0", "only image 0 is right: every image is computed from image 0", HINT_X_INDEX,
     .x = x_without_b},
    {"input_channel_ignored",
     "every output uses input channel 0 of image 0 for all images and channels", HINT_X_INDEX,
     .x = x_without_b_c},
    {"input_channel_ignored", "every output uses input channel 0 for all channels", HINT_X_INDEX,
     .x = x_without_c},
    {"input_channel_ignored",
     "every output reads input map number b for all channels, c is not in the index", HINT_X_INDEX,
     .x = x_without_c_stride},
    {"input_channel_ignored", "every output takes x and k for those of a layer with one input map",
     HINT_CHANNELS, .x = x_without_c_stride, .k = k_without_c_stride, .loops = c_first},
    {"input_stride", "every output steps B maps, not C, from one image to the next in x",
     HINT_X_INDEX, .x = x_stride_b},
    {"input_stride", "every output steps M maps, not C, from one image to the next in x",
     HINT_X_INDEX, .x = x_stride_m},
    {"input_stride", "every output steps one map, not C, from one image to the next in x",
     HINT_X_INDEX, .x = x_stride_1},
    {"input_stride", "every output reads x[c, b, h, w] in place of x[b, c, h, w]", HINT_X_INDEX,
     .x = x_c_b},
    {"channels_last", "every output reads x as if it were laid out [B][H][W][C]", HINT_X_INDEX,
     .x = x_channels_last},
    {"input_row_stride", "every output steps W_out elements, not W, from one row of x to the next",
     HINT_X_INDEX, .x = x_row_w_out},
    {"input_row_stride", "every output reads x as if its maps were H_out by W_out", HINT_X_INDEX,
     .x = x_all_out},
    {"input_row_stride",
     "every output steps H_out*W_out elements, not H*W, from one map of x to the next",
     HINT_X_INDEX, .x = x_plane_out},
    {"window_row_stride", "every window steps K elements, not W, from one of its rows to the next",
     HINT_X_INDEX, .x = x_window_row_k},
    {"window_row_stride", "every window steps H elements, not W, from one of its rows to the next",
     HINT_SQUARE, .x = x_window_row_h},
    {"window_row_stride",
     "every window steps W_out elements, not W, from one of its rows to the next", HINT_X_INDEX,
     .x = x_window_row_w_out},
    {"window_not_moved", "every output reads x[h, w+q]: p is not in the index", HINT_WINDOW,
     .x = x_without_p},
    {"window_not_moved", "every output reads x[h+p, w]: q is not in the index", HINT_WINDOW,
     .x = x_without_q},
    {"window_not_moved", "every output reads x[h, w] only: p and q are not in the index",
     HINT_WINDOW, .x = x_without_p_q},
    {"window_fixed", "every row of y repeats the first: h is not in the index into x", HINT_WINDOW,
     .x = x_without_h},
    {"window_fixed", "every column of y repeats the first: w is not in the index into x",
     HINT_WINDOW, .x = x_without_w},
    {"window_fixed", "every output of a map repeats the first: h and w are not in the index into x",
     HINT_WINDOW, .x = x_without_h_w},
    {"window_step",
     "every output that can be told moves the window by K, not 1, from output to output",
     HINT_WINDOW, .x = x_step_k},
    {"window_step",
     "every output that can be told moves the window by %d, not 1, from output to output",
     HINT_WINDOW, .x = x_step_n, .n = 2},
    {"window_backwards", "every output that can be told reads x[h-p, w-q] in place of x[h+p, w+q]",
     HINT_WINDOW, .x = x_backwards},
    {"padded",
     "every output equals a convolution padded with (K-1)/2 zeros on each side, cut to H_out x "
     "W_out",
     HINT_WINDOW, .x = x_padded},
    {"padded",
     "every output equals a convolution padded with (K-1)/2 zeros on each side, H x W outputs a "
     "map",
     HINT_WINDOW, .x = x_padded, .y = y_full, .loops = h_w_to_full},
    {"padded",
     "every output equals a convolution padded with K/2 zeros on each side, cut to H_out x W_out",
     HINT_WINDOW, .x = x_padded_half},
    {"padded",
     "every output equals a convolution padded with K/2 zeros on each side, H x W outputs a map",
     HINT_WINDOW, .x = x_padded_half, .y = y_full, .loops = h_w_to_full},
    {"padded",
     "every output equals a convolution padded with K-1 zeros on each side, cut to H_out x W_out",
     HINT_WINDOW, .x = x_padded_full},
    {"window_offset", "every output reads a window centred on (h, w), K/2 too far up and left",
     HINT_WINDOW, .x = x_centred},
    {"window_offset", "every output reads a window one row and one column too far up and left",
     HINT_WINDOW, .x = x_moved, .n = -1},
    {"window_offset", "every output reads a window one row and one column too far down and right",
     HINT_WINDOW, .x = x_moved, .n = 1},
    {"window_offset", "every output reads a window one row too high", HINT_WINDOW,
     .x = x_moved_down, .n = -1},
    {"window_offset", "every output reads a window one row too low", HINT_WINDOW, .x = x_moved_down,
     .n = 1},
    {"window_offset", "every output reads a window one column too far left", HINT_WINDOW,
     .x = x_moved_right, .n = -1},
    {"window_offset", "every output reads a window one column too far right", HINT_WINDOW,
     .x = x_moved_right, .n = 1},

    /* H and W. */
    {"height_width_swapped", "every output steps H elements, not W, from one row of x to the next",
     HINT_SQUARE, .x = x_row_h},
    {"height_width_swapped", "every output reads x as if its maps were W by H", HINT_SQUARE,
     .x = x_row_h_plane_w},
    {"height_width_swapped", "every output takes the maps for W by H, in x and in y", HINT_SQUARE,
     .x = x_row_h_plane_w, .y = y_swapped, .loops = h_w_exchanged},
    {"height_width_swapped", "every output takes the maps for squares of H by H", HINT_SQUARE,
     .x = x_all_h, .y = y_all_h, .loops = w_to_h_out},
    {"height_width_swapped", "every output takes the maps for squares of W by W", HINT_SQUARE,
     .x = x_all_w, .y = y_all_w, .loops = h_to_w_out},
    {"height_width_swapped", "every map of y is taken for a square of H_out by H_out", HINT_SQUARE,
     .y = y_all_h, .loops = w_to_h_out},
    {"height_width_swapped", "every map of y is taken for a square of W_out by W_out", HINT_SQUARE,
     .y = y_all_w, .loops = h_to_w_out},
    {"height_width_swapped", "every map of y is stored as if it were H_out by H_out", HINT_SQUARE,
     .y = y_all_h},
    {"height_width_swapped", "every map of y is stored as if it were W_out by W_out", HINT_SQUARE,
     .y = y_all_w},
    {"height_width_swapped", "every output of y is stored in rows of H_out, not W_out, elements",
     HINT_SQUARE, .y = y_row_h_out},
    {"height_width_swapped", "every map of y is stored as if it were W_out by H_out", HINT_SQUARE,
     .y = y_swapped},
    {"height_width_swapped",
     "every map of y is stored as if it were W_out by H_out, h runs to W_out and w to H_out",
     HINT_SQUARE, .y = y_swapped, .loops = h_w_exchanged},
    {"height_width_swapped", "every map is computed for h up to W_out and w up to H_out",
     HINT_SQUARE, .loops = h_w_exchanged},
    {"height_width_swapped", "every map is computed for h up to W_out, not H_out", HINT_SQUARE,
     .loops = h_to_w_out},
    {"height_width_swapped", "every map is computed for w up to H_out, not W_out", HINT_SQUARE,
     .loops = w_to_h_out},
    {"height_width_swapped",
     "every output equals the convolution of the image transposed (h and w exchanged in x)",
     HINT_SQUARE, .x = x_transposed},
    {"height_width_swapped", "every output equals the convolution of x read column by column",
     HINT_SQUARE, .x = x_column_major},
    {"output_transposed", "every map of y is transposed: stored column by column", HINT_Y_INDEX,
     .y = y_transposed},
    {"output_transposed", "every map of y is transposed: h and w are exchanged in its index",
     HINT_Y_INDEX, .y = y_transposed_stride_w},

    /* The size of the output. */
    {"h_out_off_by_one", "every output lies where H_out = H - K would put it, one row too few",
     HINT_OUT, .y = y_h_out, .loops = h_to_h_out_n, .n = -1},
    {"h_out_off_by_one", "every output lies where H_out = H - K + 2 would put it, one row too many",
     HINT_OUT, .y = y_h_out, .loops = h_to_h_out_n, .n = 1},
    {"h_out_off_by_one", "every output lies where H_out = H - K would put it, in y's index only",
     HINT_OUT, .y = y_h_out, .n = -1},
    {"h_out_off_by_one",
     "every output lies where H_out = H - K + 2 would put it, in y's index only", HINT_OUT,
     .y = y_h_out, .n = 1},
    {"w_out_off_by_one", "every output lies where W_out = W - K would put it, one column too few",
     HINT_OUT, .y = y_w_out, .loops = w_to_w_out_n, .n = -1},
    {"w_out_off_by_one",
     "every output lies where W_out = W - K + 2 would put it, one column too many", HINT_OUT,
     .y = y_w_out, .loops = w_to_w_out_n, .n = 1},
    {"w_out_off_by_one", "every output lies where W_out = W - K would put it, in y's index only",
     HINT_OUT, .y = y_w_out, .n = -1},
    {"w_out_off_by_one",
     "every output lies where W_out = W - K + 2 would put it, in y's index only", HINT_OUT,
     .y = y_w_out, .n = 1},
    {"w_out_off_by_one", "every row of y starts one element too early: rows of W - K elements",
     HINT_OUT, .y = y_row_n, .n = -1},
    {"w_out_off_by_one", "every row of y starts one element too late: rows of W - K + 2 elements",
     HINT_OUT, .y = y_row_n, .n = 1},
    {"h_out_off_by_one", "every output lies where H_out = H - K and W_out = W - K would put it",
     HINT_OUT, .y = y_h_w_out, .loops = h_w_to_out_n, .n = -1},
    {"h_out_off_by_one",
     "every output lies where H_out = H - K + 2 and W_out = W - K + 2 would put it", HINT_OUT,
     .y = y_h_w_out, .loops = h_w_to_out_n, .n = 1},
    {"h_out_off_by_one",
     "every output lies where H_out = H - K and W_out = W - K would put it, in y's index only",
     HINT_OUT, .y = y_h_w_out, .n = -1},
    {"h_out_off_by_one",
     "every output lies where H_out = H - K + 2 and W_out = W - K + 2 would put it, in y's index "
     "only",
     HINT_OUT, .y = y_h_w_out, .n = 1},
    {"h_out_off_by_one",
     "every output lies where H_out = H - K - 1 and W_out = W - K - 1 would put it", HINT_OUT,
     .y = y_h_w_out, .loops = h_w_to_out_n, .n = -2},
    {"h_out_off_by_one",
     "every output lies where H_out = H - 2*(K/2) would put it, and W_out likewise: one too few "
     "for even K",
     HINT_OUT, .y = y_h_w_out_even, .loops = h_w_to_out_even},
    {"output_size", "every output lies where maps of H by W would put it, H by W of them computed",
     HINT_OUT, .y = y_full, .loops = h_w_to_full},
    {"output_size", "every output lies where maps of H by W would put it, in y's index only",
     HINT_OUT, .y = y_full},
    {"output_size", "every map of y is stored H*W, not H_out*W_out, elements after the one before",
     HINT_OUT, .y = y_full_plane},
    {"output_size", "every row of y is stored W, not W_out, elements after the one before",
     HINT_OUT, .y = y_full_row},
    {"output_size", "every output lies where rows of W, not W_out, elements would put it", HINT_OUT,
     .y = y_row_w},

    /* The other indices of y. */
    {"output_image_map_swapped", "every output lies where y[m, b, h, w] would put it", HINT_Y_INDEX,
     .y = y_m_b},
    {"output_stride", "every image of y is stored B, not M, maps after the one before",
     HINT_Y_INDEX, .y = y_stride_b},
    {"output_stride", "every image of y is stored C, not M, maps after the one before",
     HINT_Y_INDEX, .y = y_stride_c},
    {"output_image_ignored", "every image is stored as image 0: b is not in y's index",
     HINT_Y_INDEX, .y = y_without_b},
    {"output_map_ignored", "every map is stored as map 0: m is not in y's index", HINT_Y_INDEX,
     .y = y_without_m},
    {"output_map_ignored", "every map is stored as map number b: m is not in y's index",
     HINT_Y_INDEX, .y = y_without_m_stride},
    {"channels_last", "every output lies where the layout [B][H_out][W_out][M] would put it",
     HINT_Y_INDEX, .y = y_channels_last},

    /* The value that is stored. */
    {"scaled", "every output is divided by K*K", HINT_FINISH, .finish = over_k_k},
    {"scaled", "every output is divided by C*K*K", HINT_FINISH, .finish = over_all},
    {"scaled", "every output is divided by C", HINT_FINISH, .finish = over_c},
    {"scaled", "every output is divided by K", HINT_FINISH, .finish = over_k},
    {"scaled", "every output is C times too large", HINT_SUM, .finish = times_c},
    {"scaled", "every output is twice too large: each product is added two times", HINT_SUM,
     .finish = times_2},
    {"scaled", "every output is half of what it should be", HINT_FINISH, .finish = half},
    {"scaled", "every output has the wrong sign", HINT_FINISH, .finish = negative},
    {"activation_applied", "every output below 0 has become 0 (ReLU)", HINT_FINISH, .finish = relu},
    {"activation_applied", "every output is the tanh of the right one", HINT_FINISH,
     .finish = tangent},
    {"activation_applied", "every output is the sigmoid of the right one", HINT_FINISH,
     .finish = sigmoid},
    {"activation_applied", "every output below 0 has lost its sign", HINT_FINISH,
     .finish = magnitude},
    {"sum_starts_at_one", "every output is 1 too large", HINT_SUM, .finish = plus_1},
};

const size_t gr_fault_count = sizeof gr_faults / sizeof gr_faults[0];
