#include "exercise/exercises.h"

static const struct exercise *const all[] = {&exercise_convolution};
enum { EXERCISES = sizeof all / sizeof *all };

const struct exercise *exercise_of(const char *milestone)
{
    for (size_t i = 0; i < EXERCISES; i++)
        if (milestone && milestone[0] == all[i]->letter)
            return all[i];
    return all[0];
}

const struct exercise *exercise_at(size_t i)
{
    return i < EXERCISES ? all[i] : NULL;
}
