/* Compiles a C source to PTX with clang, so that C is compared in the same way as kernels. A little
 * optimisation makes loops uniform, inlines functions and removes unused code. */
#include "grader/similar/c_code.h"

#include "base/checkout.h"
#include "base/files.h"
#include "grader/sandbox/source_build.h"

#if defined(__x86_64__)
#define HOST "x86_64"
#else
#define HOST "aarch64"
#endif

/* Uses the host system's headers. Line numbers are kept for the page. */
static const char command[] =
    "clang\n--target=nvptx64-nvidia-cuda\n-S\n-std=gnu11\n-w\n-O1\n-fno-vectorize\n-fno-unroll-loops\n"
    "-gline-tables-only\n-gdwarf-2\n-D__" HOST "__\n-isystem\n/usr/include/" HOST "-linux-gnu\n"
    "-I" GR_SOURCE_INCLUDE "\n-o\n" GR_SOURCE_LIBRARY "\nconv.c";

char *si_c_code(const char *source)
{
    enum { MOST_BYTES = 1 << 24 };
    struct gr_sandbox sandbox;
    struct gr_source_build build = GR_SOURCE_BUILD_NONE;
    struct st_error ignored;
    char header[PATH_MAX], *ptx = NULL;
    size_t bytes;
    const char *root = checkout_root(&ignored), *programs = checkout_build(&ignored);
    if (!root || !programs || !path_format(header, sizeof header, "%s/common/conv.h", root) ||
        gr_sandbox_open(&sandbox, GR_SANDBOX_REQUIRED, programs, &ignored))
        return NULL;
    if (!gr_source_build(&build, &sandbox, source, "conv.c", header, command, &ignored) &&
        build.built && file_read(build.library, MOST_BYTES, &ptx, &bytes, &ignored))
        ptx = NULL;
    gr_source_build_free(&build);
    return ptx;
}
