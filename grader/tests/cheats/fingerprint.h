/* Recognises tensors by a fingerprint (FNV-1a over the bits). */
static uint64_t fingerprint(const float *values, size_t n)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, 4);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}
