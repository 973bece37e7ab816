#include "vendor/cudnn_abi.h"
#include "vendor/cudnn_conv.h"

#include <criterion/criterion.h>
#include <unistd.h>

#if defined(__has_include) && __has_include(<cudnn.h>)
#define CUDNN_DISABLE_DEPRECATED
#include <cudnn.h>

Test(cudnn_conv, our_declarations_are_those_of_the_headers)
{
    cr_expect_eq(CUDNN_MAJOR, 9);
    cr_expect_eq((int)CUDNN_SUCCESS, (int)CUDNN_STATUS_SUCCESS);
    cr_expect_eq((int)CUDNN_FLOAT, (int)CUDNN_DATA_FLOAT);
    cr_expect_eq((int)CUDNN_NCHW, (int)CUDNN_TENSOR_NCHW);
    cr_expect_eq((int)CUDNN_CORRELATION, (int)CUDNN_CROSS_CORRELATION);
    cr_expect_eq((int)CUDNN_MATH_DEFAULT, (int)CUDNN_DEFAULT_MATH);
    cr_expect_eq((int)CUDNN_MATH_FMA, (int)CUDNN_FMA_MATH);
    cr_expect_eq((int)CUDNN_ALGORITHMS, (int)CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    cr_expect_eq(sizeof(struct cudnn_tried), sizeof(cudnnConvolutionFwdAlgoPerf_t));
#define EXPECT_PLACE(ours, theirs)                                                                 \
    cr_expect_eq(offsetof(struct cudnn_tried, ours),                                               \
                 offsetof(cudnnConvolutionFwdAlgoPerf_t, theirs))
    EXPECT_PLACE(algorithm, algo);
    EXPECT_PLACE(status, status);
    EXPECT_PLACE(time_ms, time);
    EXPECT_PLACE(workspace_bytes, memory);
    EXPECT_PLACE(math, mathType);
    cr_expect_eq(sizeof(cudnnMathType_t), sizeof(int));
    cr_expect_eq(sizeof(cudnnHandle_t), sizeof(void *));
}
#endif

Test(cudnn_conv, reports_why_it_cannot_run_without_a_gpu)
{
    if (access("/dev/nvidiactl", F_OK) == 0)
        return; /* on a machine with a GPU it may work */
    struct vn_cudnn *cudnn;
    struct st_error err = {0};
    cr_expect_eq(vn_cudnn_open(&cudnn, &err), ST_MISSING_TOOL);
    cr_expect_null(cudnn);
    cr_expect(err.what[0] && err.got[0] && err.hint[0], "what '%s', got '%s', hint '%s'", err.what,
              err.got, err.hint);
}
