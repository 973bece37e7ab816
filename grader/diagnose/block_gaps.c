/* Do blocks store fewer rows or columns than the launch assumes? Two mistakes leave a regular pattern:
 *
 *     gaps    blocks begin `step` outputs apart, and each stores `stored` of them: in each group of
 *             `step` outputs, the last ones are unwritten
 *     end     the grid is made for blocks of `step` outputs, and each stores `stored`, one block
 *             directly after the other: the last ones of the axis are unwritten
 *
 * An output is unwritten along an axis if all outputs of its row (or column) are. */
#include "grader/compare/element.h"
#include "grader/diagnose/clues.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256, LARGEST_STEP = 64, FEWEST_CASES = 3 };

/* The rows (axis 0) and columns (axis 1) of a case that are unwritten in all images and maps. */
struct profile {
    size_t length[2];
    bool unwritten[2][LONGEST];
};

/* @return false if other outputs are unwritten, too, or the case is too large. */
static bool make_profile(const struct gr_case *c, struct profile *to)
{
    const struct conv_shape *s = &c->spec.shape;
    const size_t rows = (size_t)(s->H - s->K + 1), columns = (size_t)(s->W - s->K + 1),
                 planes = (size_t)s->B * (size_t)s->M;
    *to = (struct profile){.length = {rows, columns}};
    if (rows > LONGEST || columns > LONGEST)
        return false;
    memset(to->unwritten[0], true, rows);
    memset(to->unwritten[1], true, columns);
    for (size_t i = 0; i < planes * rows * columns; i++)
        if (!gr_is_unwritten(c->y[i])) {
            to->unwritten[0][i / columns % rows] = false;
            to->unwritten[1][i % columns] = false;
        }
    for (size_t i = 0; i < planes * rows * columns; i++)
        if (gr_is_unwritten(c->y[i]) && !to->unwritten[0][i / columns % rows] &&
            !to->unwritten[1][i % columns])
            return false;
    return true;
}

static bool is_left_out(const struct gr_block_gaps *g, size_t length, size_t i)
{
    return g->is_end ? i >= (length + g->step - 1) / g->step * g->stored : i % g->step >= g->stored;
}

/* @return how many wrong cases a pattern explains; 0 if it contradicts one. */
static size_t explains(const struct gr_block_gaps *g, const struct profile *profiles, size_t n)
{
    size_t explained = 0;
    for (size_t k = 0; k < n; k++) {
        bool some = false;
        for (int axis = 0; axis < 2; axis++)
            for (size_t i = 0; g->axis[axis] && i < profiles[k].length[axis]; i++) {
                const bool left_out = is_left_out(g, profiles[k].length[axis], i);
                if (left_out != profiles[k].unwritten[axis][i])
                    return 0;
                some |= left_out;
            }
        explained += some;
    }
    return explained;
}

static bool find_pattern(const struct profile *profiles, size_t n, struct gr_block_gaps *to)
{
    static const size_t usual[] = {16, 32, 8, 64};
    const size_t first = sizeof usual / sizeof *usual; /* then all others from here on */
    for (int is_end = 0; is_end < 2; is_end++)
        for (size_t k = 0; k <= LARGEST_STEP; k++) {
            to->is_end = is_end;
            to->step = k < first ? usual[k] : k;
            for (to->stored = to->step - 1; 2 * to->stored > to->step; to->stored--)
                if (explains(to, profiles, n) == n)
                    return true;
        }
    return false;
}

bool gr_find_block_gaps(const struct gr_clues *clues, struct gr_block_gaps *to)
{
    struct profile *profiles = calloc(clues->n + 1, sizeof *profiles);
    size_t n = 0;
    bool can = profiles != NULL;
    *to = (struct gr_block_gaps){0};
    for (size_t at = 0; at < clues->n && can; at++) {
        if (!clues->compared[at].wrong)
            continue;
        can = make_profile(&clues->cases[at], &profiles[n]);
        for (int axis = 0; axis < 2 && can; axis++)
            for (size_t i = 0; i < profiles[n].length[axis]; i++)
                to->axis[axis] |= profiles[n].unwritten[axis][i];
        n++;
    }
    can = can && n >= FEWEST_CASES && find_pattern(profiles, n, to);
    free(profiles);
    return can;
}
