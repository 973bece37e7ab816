/* Endless error messages: the file includes itself twice. */
#pragma GCC error "again"
#include __FILE__
#include __FILE__
