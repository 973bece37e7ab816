/** @file
 * Finds the CUDA Toolkit.
 */
#pragma once

/** The folder of the CUDA Toolkit that ConvLab uses: $CUDA_HOME, else that of the nvcc on PATH,
 * else /usr/local/cuda, else the one that make setup installed in the checkout. The last three are
 * used only if new enough. common/mk/find-cuda.sh follows the same order for make.
 * @return a static string, or NULL without a toolkit */
const char *toolkit_find(void);

/** @return 12040 for the CUDA Toolkit 12.4; 0 if the folder contains no toolkit */
int toolkit_version(const char *folder);

/** The oldest supported version. */
enum { TOOLKIT_OLDEST = 12040 };
