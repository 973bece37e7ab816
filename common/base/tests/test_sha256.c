#include "base/sha256.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_hash(const char *text, size_t times, const char *expected)
{
    struct sha256 hash;
    char hex[SHA256_HEX];
    sha256_begin(&hash);
    for (size_t i = 0; i < times; i++)
        sha256_add(&hash, text, strlen(text));
    sha256_end_hex(&hash, hex);
    cr_expect_str_eq(hex, expected, "%zu times '%s'", times, text);
}

Test(sha256, gives_the_standard_s_examples)
{
    expect_hash("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_hash("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect_hash("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
