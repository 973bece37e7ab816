/* Names and tokens are HMAC-SHA256 (RFC 2104) of the submission's name, with the gradebook's secret
 * as key. */
#include "base/sha256.h"
#include "grader/rank/board.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char *const first[64] = {
    "Amber",  "Ancient",  "Azure",  "Bold",   "Brave",  "Bright",  "Bronze", "Calm",
    "Clever", "Copper",   "Coral",  "Cosmic", "Crisp",  "Daring",  "Deep",   "Eager",
    "Early",  "Electric", "Fair",   "Fleet",  "Gentle", "Golden",  "Grand",  "Green",
    "Happy",  "Hidden",   "Honest", "Icy",    "Indigo", "Ivory",   "Jade",   "Jolly",
    "Keen",   "Kind",     "Lively", "Lucky",  "Lunar",  "Mellow",  "Merry",  "Mighty",
    "Misty",  "Modest",   "Nimble", "Noble",  "Olive",  "Patient", "Plucky", "Polar",
    "Proud",  "Quick",    "Quiet",  "Rapid",  "Royal",  "Ruby",    "Rustic", "Silver",
    "Solar",  "Steady",   "Sunny",  "Swift",  "Tidy",   "Velvet",  "Vivid",  "Wise"};

static const char *const second[64] = {
    "Albatross", "Badger", "Bear",    "Beaver",  "Bison",    "Bittern", "Buzzard", "Camel",
    "Cheetah",   "Condor", "Crane",   "Curlew",  "Deer",     "Dolphin", "Eagle",   "Egret",
    "Elk",       "Falcon", "Ferret",  "Finch",   "Fox",      "Gannet",  "Gazelle", "Gecko",
    "Giraffe",   "Goose",  "Hare",    "Hawk",    "Hedgehog", "Heron",   "Ibex",    "Ibis",
    "Jackdaw",   "Jaguar", "Kestrel", "Kite",    "Koala",    "Lark",    "Lemur",   "Lynx",
    "Magpie",    "Marten", "Mole",    "Moose",   "Newt",     "Ocelot",  "Osprey",  "Otter",
    "Owl",       "Panda",  "Pelican", "Penguin", "Petrel",   "Plover",  "Puffin",  "Raven",
    "Robin",     "Salmon", "Seal",    "Stork",   "Swan",     "Tern",    "Turtle",  "Wolf"};

static void mac(const char *secret, const char *purpose, const char *text,
                unsigned char digest[SHA256_BYTES])
{
    unsigned char key[64] = {0}, pad[64];
    struct sha256 hash;
    memcpy(key, secret, strlen(secret) < sizeof key ? strlen(secret) : sizeof key);
    for (int outer = 0; outer < 2; outer++) {
        for (size_t i = 0; i < sizeof key; i++)
            pad[i] = key[i] ^ (outer ? 0x5c : 0x36);
        sha256_begin(&hash);
        sha256_add(&hash, pad, sizeof pad);
        if (outer) {
            sha256_add(&hash, digest, SHA256_BYTES);
        } else {
            sha256_add(&hash, purpose, strlen(purpose) + 1);
            sha256_add(&hash, text, strlen(text));
        }
        sha256_end(&hash, digest);
    }
}

void rk_pseudonym(const char *secret, const char *submission, unsigned round,
                  char name[RK_NAME_CHARS])
{
    unsigned char digest[SHA256_BYTES];
    char purpose[32];
    snprintf(purpose, sizeof purpose, "name %u", round);
    mac(secret, purpose, submission, digest);
    snprintf(name, RK_NAME_CHARS, "%s %s %u", first[digest[0] % 64], second[digest[1] % 64],
             100 + (digest[2] << 8 | digest[3]) % 900);
}

enum st_code rk_secret(struct gradebook *book, char secret[RK_SECRET_CHARS], struct st_error *err)
{
    char *value;
    unsigned char bytes[(RK_SECRET_CHARS - 1) / 2];
    enum st_code code = gb_setting_get(book, "rank_secret", &value, err);
    if (code)
        return code;
    if (value && strlen(value) == RK_SECRET_CHARS - 1) {
        strcpy(secret, value);
        free(value);
        return ST_OK;
    }
    free(value);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return st_fail(err, ST_SYSTEM, "cannot get random numbers from the system");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
    const struct gb_setting row = {.name = "rank_secret", .value = secret};
    return gb_setting_put(book, &row, err);
}

enum st_code rk_token(struct gradebook *book, const char *submission, char token[RK_TOKEN_CHARS],
                      struct st_error *err)
{
    char secret[RK_SECRET_CHARS];
    unsigned char digest[SHA256_BYTES];
    enum st_code code = rk_secret(book, secret, err);
    if (code)
        return code;
    mac(secret, "token", submission, digest);
    for (size_t i = 0; i < (RK_TOKEN_CHARS - 1) / 2; i++)
        snprintf(token + 2 * i, 3, "%02x", digest[i]);
    return ST_OK;
}

enum st_code rk_show_own_name(struct gradebook *book, const char *token, bool show,
                              struct st_error *err)
{
    struct gb_submission_list list;
    char of_one[RK_TOKEN_CHARS], *setting = NULL;
    enum st_code code = gb_submission_read(book, &list, err, "ORDER BY name");
    for (size_t i = 0; !code && !setting && i < list.n; i++) {
        code = rk_token(book, list.row[i].name, of_one, err);
        if (!code && strcmp(of_one, token) == 0 &&
            asprintf(&setting, "rank_own_name:%s", list.row[i].name) < 0)
            code = st_fail(err, ST_NO_MEMORY, "out of memory for a name");
    }
    gb_submission_free(&list);
    if (!code && !setting) {
        code = st_fail(err, ST_NOT_FOUND, "no submission has this token");
        st_detail(err, ST_GOT, "'%s'", token);
        st_detail(err, ST_HINT, "grader rank --tokens lists them");
    }
    if (!code) {
        const struct gb_setting row = {.name = setting, .value = show ? "shown" : "hidden"};
        code = gb_setting_put(book, &row, err);
    }
    free(setting);
    return code;
}
