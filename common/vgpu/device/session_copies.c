/* Copies of rows. */
#include "vgpu/device/client_session.h"

bool session_rectangle(uint64_t width, uint64_t height, uint64_t pitch)
{
    const uint64_t limit = UINT64_C(1) << 46;
    return width <= limit && pitch <= limit && height <= limit && (height <= 1 || width <= pitch) &&
           (height == 0 || pitch == 0 || height <= limit / pitch);
}

void session_rows_join(uint64_t *width, uint64_t *height, uint64_t pitch)
{
    if (*height < 2 || *width != pitch)
        return;
    *width *= *height;
    *height = 1;
}

int session_copy_rows(struct session *s, const uint64_t *a, const char *api)
{
    uint64_t to = a[0], from = a[1], width = a[2], height = a[3], to_pitch = a[4], pitch = a[5];
    if (!session_rectangle(width, height, pitch) || !session_rectangle(width, height, to_pitch))
        return VP_INVALID_VALUE;
    if (pitch == to_pitch)
        session_rows_join(&width, &height, pitch);
    for (uint64_t row = 0; row < height && width; row++) {
        struct st_error err;
        enum st_code code =
            vg_memory_copy(s->device, to + row * to_pitch, from + row * pitch, width, &err);
        if (code)
            return session_error(s, code, &err, api);
    }
    return VP_OK;
}
