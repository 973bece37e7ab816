/* Tests of the names of kernels. */
#include "vgpu/probe/names.h"

#include <criterion/criterion.h>

Test(names, kernels_have_their_written_names)
{
    static const char *const pairs[][2] = {{"_Z4convPKfS0_Pf", "conv"},
                                           {"_ZN3lab4convEPKf", "lab::conv"},
                                           {"conv", "conv"},
                                           {"_ZN3cub6detail1kIfEEvT_", "cub::detail::k"},
                                           {"_Z", "_Z"},
                                           {"_Z99x", "_Z99x"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char to[256];
        name_demangle(pairs[i][0], to, sizeof to);
        cr_assert_str_eq(to, pairs[i][1]);
    }
}
