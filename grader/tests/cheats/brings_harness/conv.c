/* A submission with files that would replace the harness's. The grader takes none of them. */
#include "plain.h"
