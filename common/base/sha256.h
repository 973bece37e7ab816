/** @file
 * SHA-256 (FIPS 180-4): identifies the contents of a file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

/** A hash under construction. */
struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /**< number of bytes so far */
    unsigned char block[64];
};

/** Starts a hash. */
void sha256_begin(struct sha256 *hash);

/** Adds bytes. */
void sha256_add(struct sha256 *hash, const void *bytes, size_t n);

/** Ends a hash. */
void sha256_end(struct sha256 *hash, unsigned char digest[SHA256_BYTES]);

/** Ends a hash and writes it in hexadecimal, with a NUL at the end. */
void sha256_end_hex(struct sha256 *hash, char hex[SHA256_HEX]);

/** Hashes @p n bytes and writes the hash in hexadecimal, with a NUL at the end. */
void sha256_hex(const void *bytes, size_t n, char hex[SHA256_HEX]);
