/* The libFuzzer program: `make fuzz` builds it with clang and runs it on corpus/. Add inputs that
 * it finds to corpus/: test_fuzz.c replays them in every `make test`. */
#include "nn/tests/fuzz/fuzz_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_safetensors(bytes, size);
    fuzz_idx(bytes, size);
    return 0;
}
