/* Error messages without end: the file includes itself, twice each time. */
#pragma GCC error "again"
#include __FILE__
#include __FILE__
