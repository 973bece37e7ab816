/* Two tables that nvprof printed, from a report of the course: X(share, total, calls, mean,
 * minimum, maximum, name; and unrounded figures in ns: total, minimum, maximum). The rounded
 * figures are exactly the course's; the unrounded figures were chosen to round to them. Long names
 * are cut off. */
#pragma once

/* A row per line, as nvprof printed it. */
/* clang-format off */
#define SEED_GPU(X) \
    X("35.14%", "57.193ms", 1, "57.193ms", "57.193ms", "57.193ms", "mxnet::op::forward_kernel(float*, float const *, float const *, int, int, int, int, int)", 57193000, 57193000, 57193000) \
    X("24.26%", "39.486ms", 1, "39.486ms", "39.486ms", "39.486ms", "sgemm_sm35_ldg_tn_128x8x256x16x32", 39486000, 39486000, 39486000) \
    X("12.04%", "19.601ms", 1, "19.601ms", "19.601ms", "19.601ms", "void mshadow::cuda::MapPlanLargeKernel", 19601000, 19601000, 19601000) \
    X("11.91%", "19.381ms", 2, "9.6904ms", "460.19us", "18.921ms", "void cudnn::detail::activation_fw_4d_kernel", 19380899, 460190, 18920709) \
    X("8.91%", "14.503ms", 1, "14.503ms", "14.503ms", "14.503ms", "void cudnn::detail::pooling_fw_4d_kernel", 14503000, 14503000, 14503000) \
    X("3.83%", "6.2406ms", 13, "480.04us", "1.5360us", "4.3215ms", "[CUDA memcpy HtoD]", 6240584, 1536, 4321500) \
    X("2.23%", "3.6237ms", 1, "3.6237ms", "3.6237ms", "3.6237ms", "sgemm_sm35_ldg_tn_64x16x128x8x32", 3623700, 3623700, 3623700) \
    X("0.68%", "1.1138ms", 1, "1.1138ms", "1.1138ms", "1.1138ms", "void mshadow::cuda::SoftmaxKernel", 1113800, 1113800, 1113800) \
    X("0.46%", "753.98us", 12, "62.831us", "2.1120us", "380.64us", "void mshadow::cuda::MapPlanKernel", 753980, 2112, 380640) \
    X("0.27%", "436.25us", 2, "218.13us", "16.800us", "419.45us", "void mshadow::cuda::MapPlanKernel<mshadow::sv::plusto, int=8, mshadow::expr::Pla", 436252, 16800, 419452) \
    X("0.24%", "389.53us", 1, "389.53us", "389.53us", "389.53us", "sgemm_sm35_ldg_tn_32x16x64x8x16", 389530, 389530, 389530) \
    X("0.01%", "23.296us", 1, "23.296us", "23.296us", "23.296us", "void mshadow::cuda::MapPlanKernel<mshadow::sv::saveto, int=8, mshadow::expr::Pla", 23296, 23296, 23296) \
    X("0.01%", "9.6320us", 1, "9.6320us", "9.6320us", "9.6320us", "[CUDA memcpy DtoH]", 9632, 9632, 9632)

#define SEED_API(X) \
    X("42.87%", "2.92112s", 1, "2.92112s", "2.92112s", "2.92112s", "cudaDeviceSynchronize", 2921120000, 2921120000, 2921120000) \
    X("26.99%", "1.83951s", 18, "102.19ms", "17.255us", "919.41ms", "cudaStreamCreateWithFlags", 1839510000, 17255, 919410000) \
    X("16.53%", "1.12655s", 10, "112.65ms", "793ns", "321.60ms", "cudaFree", 1126549999, 793, 321600000) \
    X("12.08%", "823.04ms", 23, "35.784ms", "207.79us", "816.34ms", "cudaMemGetInfo", 823040000, 207790, 816340000) \
    X("1.16%", "78.800ms", 25, "3.1520ms", "6.0090us", "42.562ms", "cudaStreamSynchronize", 78800000, 6009, 42562000) \
    X("0.18%", "12.107ms", 8, "1.5134ms", "7.9860us", "4.3067ms", "cudaMemcpy2DAsync", 12107000, 7986, 4306700) \
    X("0.10%", "6.4866ms", 41, "158.21us", "12.232us", "1.1072ms", "cudaMalloc", 6486600, 12232, 1107200) \
    X("0.04%", "2.4761ms", 4, "619.03us", "33.347us", "2.3431ms", "cudaStreamCreate", 2476104, 33347, 2343100) \
    X("0.02%", "1.3934ms", 4, "348.36us", "339.14us", "363.08us", "cuDeviceTotalMem", 1393420, 339140, 363080) \
    X("0.01%", "851.48us", 352, "2.4180us", "244ns", "63.493us", "cuDeviceGetAttribute", 851480, 244, 63493) \
    X("0.01%", "678.71us", 114, "5.9530us", "668ns", "303.36us", "cudaEventCreateWithFlags", 678710, 668, 303360) \
    X("0.01%", "516.79us", 24, "21.532us", "10.424us", "51.474us", "cudaLaunch", 516790, 10424, 51474) \
    X("0.01%", "414.20us", 6, "69.033us", "57.630us", "85.653us", "cudaMemcpy", 414200, 57630, 85653) \
    X("0.00%", "117.14us", 4, "29.284us", "17.267us", "45.302us", "cuDeviceGetName", 117139, 17267, 45302) \
    X("0.00%", "70.550us", 30, "2.3510us", "651ns", "6.7700us", "cudaSetDevice", 70550, 651, 6770) \
    X("0.00%", "62.945us", 104, "605ns", "411ns", "2.0310us", "cudaDeviceGetAttribute", 62945, 411, 2031) \
    X("0.00%", "58.437us", 145, "403ns", "254ns", "1.4480us", "cudaSetupArgument", 58437, 254, 1448) \
    X("0.00%", "36.884us", 2, "18.442us", "17.928us", "18.956us", "cudaStreamCreateWithPriority", 36884, 17928, 18956) \
    X("0.00%", "28.615us", 24, "1.1920us", "391ns", "2.8760us", "cudaConfigureCall", 28615, 391, 2876) \
    X("0.00%", "16.469us", 10, "1.6460us", "1.1680us", "2.8640us", "cudaGetDevice", 16469, 1168, 2864) \
    X("0.00%", "9.2660us", 17, "545ns", "334ns", "807ns", "cudaPeekAtLastError", 9266, 334, 807) \
    X("0.00%", "4.5100us", 6, "751ns", "285ns", "1.5780us", "cuDeviceGetCount", 4510, 285, 1578) \
    X("0.00%", "4.1540us", 6, "692ns", "345ns", "1.2700us", "cuDeviceGet", 4154, 345, 1270) \
    X("0.00%", "4.1360us", 1, "4.1360us", "4.1360us", "4.1360us", "cudaStreamGetPriority", 4136, 4136, 4136) \
    X("0.00%", "3.9770us", 2, "1.9880us", "1.4020us", "2.5750us", "cudaStreamWaitEvent", 3977, 1402, 2575) \
    X("0.00%", "3.3280us", 2, "1.6640us", "1.2420us", "2.0860us", "cudaEventRecord", 3328, 1242, 2086) \
    X("0.00%", "2.9340us", 2, "1.4670us", "1.3540us", "1.5800us", "cudaDeviceGetStreamPriorityRange", 2934, 1354, 1580) \
    X("0.00%", "2.6410us", 3, "880ns", "825ns", "954ns", "cuInit", 2641, 825, 954) \
    X("0.00%", "2.5710us", 3, "857ns", "707ns", "1.0480us", "cuDriverGetVersion", 2571, 707, 1048) \
    X("0.00%", "2.3600us", 5, "472ns", "314ns", "621ns", "cudaGetLastError", 2360, 314, 621) \
    X("0.00%", "949ns", 1, "949ns", "949ns", "949ns", "cudaGetDeviceCount", 949, 949, 949)
