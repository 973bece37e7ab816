/* Tests of pages of recorded blocks: one per kernel, complete, small, and safe against their
 * strings. */
#include "vgpu/device/picture_page.h"

#include "base/files.h"
#include "base/tests/test_text.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/convlab-picture-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][PATH_MAX];
    static int n;
    char *to = path[n++ % 4];
    path_format(to, PATH_MAX, "%s/%s", folder, name);
    return to;
}

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    tree_remove(folder);
}

TestSuite(picture_page, .init = make_folder, .fini = remove_folder);

static void put(const char *name, const char *text)
{
    struct st_error err;
    cr_assert_eq(file_write(in_folder(name), text, strlen(text), &err), ST_OK, "%s", err.what);
}

/* Writes @p n recordings with this kernel name and file name. */
static void put_recordings(const char *kernel, const char *file, int n)
{
    char text[8192] = "";
    for (int i = 0; i < n; i++)
        snprintf(
            text + strlen(text), sizeof text - strlen(text),
            "{\"kernel\":\"%s\",\"symbol\":\"_Zk\",\"grid\":[1,1,1],\"block\":[32,1,1],\"place\":[0,0,0],"
            "\"shared\":0,\"memory\":[],\"files\":[\"%s\"],\"instructions\":2,\"recorded\":2,"
            "\"places\":[[0,3,4294967295]],\"patterns\":[],\"steps\":[[0,0,2]],\"values\":[]}\n",
            kernel, file);
    put("recordings", text);
}

static enum st_code make(const struct picture_source *source,
                         const struct picture_listener *listener, struct st_error *err)
{
    return picture_pages_write(in_folder("run.html"), in_folder("recordings"), source, listener,
                               err);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static void hear(void *context, const char *symbol, const char *name)
{
    char *to = context;
    sprintf(to + strlen(to), "%s %s ", symbol, name);
}

Test(picture_page, is_one_for_each_kernel_with_links_to_the_others)
{
    struct st_error err;
    char heard[200] = "";
    const struct picture_listener listener = {hear, heard};
    put("conv.cu", "one\ntwo\nthree\n");
    put_recordings("conv<int>", in_folder("conv.cu"), 2);
    cr_assert_eq(make(NULL, &listener, &err), ST_OK, "%s", err.what);
    cr_expect_str_eq(heard, "_Zk run.html _Zk run-2.html ");
    char *first = text_of_file(in_folder("run.html")),
         *second = text_of_file(in_folder("run-2.html"));
    cr_expect(strstr(first, "[[\"conv\\u003cint\\u003e\",\"run-2.html\"]]"), "%s", first);
    cr_expect(strstr(second, "\"run.html\""));
    cr_expect(strstr(first, "\"source\":[[1,[\"one\",\"two\",\"three\"]]]"));
    cr_expect(strstr(first, "default-src 'none'"), "nothing is fetched");
    cr_expect_eq(count(first, "http"), 2,
                 "the name of the policy's header, and the name space of SVG");
    free(first);
    free(second);
}

/* A string must not break out of its element of the page. */
Test(picture_page, holds_hostile_text)
{
    struct st_error err;
    put("conv.cu",
        "</script><script>alert(1)</script>\n<!-- \xc2\x9b \xe2\x80\xae \xff\xf0\x9f & \x1b[m\n\xf0\x9f\x98\x80\n");
    put_recordings("</script><img src=x>\\u202e", in_folder("conv.cu"), 1);
    cr_assert_eq(make(NULL, NULL, &err), ST_OK, "%s", err.what);
    char *page = text_of_file(in_folder("run.html"));
    const char *data = strstr(page, "id=\"data\">"), *end = data ? strstr(data, "</script>") : NULL;
    cr_assert(end);
    for (const char *p = data + strlen("id=\"data\">"); p < end; p++)
        cr_assert(*p >= ' ' && *p < 0x7f && !strchr("<>&", *p), "byte %d", *p);
    cr_expect_eq(count(page, "</script>"), 2);
    cr_expect(strstr(data, "\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"));
    cr_expect(strstr(data, "\\ud83d\\ude00"), "a character beyond 16 bits");
    cr_expect(strstr(data, "\\ufffd"), "bytes that are not UTF-8");
    free(page);
}

Test(picture_page, shows_the_text_of_the_graded_file_alone)
{
    struct st_error err;
    put("secret.txt", "s3cret\ns3cret\ns3cret\n");
    put("mine.cu", "mine\nmine\nmine\n");
    char mine[PATH_MAX];
    path_format(mine, sizeof mine, "%s", in_folder("mine.cu"));
    const struct picture_source source = {.name = "conv.cu", .path = mine};
    put_recordings("k", in_folder("secret.txt"), 1);
    cr_assert_eq(make(&source, NULL, &err), ST_OK);
    char *page = text_of_file(in_folder("run.html"));
    cr_expect(!strstr(page, "s3cret") && strstr(page, "\"source\":[null]"));
    free(page);
    put_recordings("k", "/somewhere/conv.cu", 1);
    cr_assert_eq(make(&source, NULL, &err), ST_OK);
    page = text_of_file(in_folder("run.html"));
    cr_expect(strstr(page, "[1,[\"mine\",\"mine\",\"mine\"]]"));
    cr_expect(!strstr(page, "/somewhere"), "the folders of this machine");
    free(page);
}

/* @return the tensors on the page of a program with this memory and the two layers below */
static char *tensors_for(const char *memory)
{
    static const struct conv_shape layers[] = {{2, 3, 1, 9, 8, 5}, {2, 4, 3, 2, 2, 1}};
    const struct picture_source source = {"conv.cu", "none", layers, 2};
    struct st_error err;
    char text[1024];
    put_recordings("k", "conv.cu", 1);
    char *recording = text_of_file(in_folder("recordings")),
         *at = strstr(recording, "\"memory\":[]");
    snprintf(text, sizeof text, "%.*s\"memory\":[%s]%s", (int)(at - recording), recording, memory,
             at + strlen("\"memory\":[]"));
    put("recordings", text);
    free(recording);
    cr_assert_eq(make(&source, NULL, &err), ST_OK, "%s", err.what);
    char *page = text_of_file(in_folder("run.html"));
    at = strstr(page, "\"tensors\":");
    at = at && at < strstr(page, "</script>") ? strdup(at) : NULL;
    free(page);
    return at;
}

/* Each tensor has one of three consecutive allocations of its exact size, or a copy in a
 * variable. */
Test(picture_page, names_the_tensors_of_a_lab)
{
    static const struct {
        const char *memory, *tensors;
    } cases[] = {{"[\"a\",576,1,4,0],[\"w\",4096,0,5,300],[\"y\",480,3,6,0]",
                  "[[\"x\",[2,1,9,8]],[\"k\",[3,1,5,5]],[\"y\",[2,3,5,4]]]"},
                 {"[\"ws\",100,2,10,0],[\"b\",128,3,9,0]", "[null,[\"y\",[2,4,2,2]]]"},
                 {"[\"b\",300,3,9,0]", "[[\"k\",[3,1,5,5]]]"},
                 {"[\"a\",576,1,4,0],[\"b\",576,1,9,0]", NULL}, /* ambiguous: which is x? */
                 {"[\"a\",576,1,4,0],[\"b\",301,1,5,0]", NULL}, /* k would be larger */
                 {"[\"w\",4096,0,0,0]", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *found = tensors_for(cases[i].memory);
        const char *wanted = cases[i].tensors;
        cr_expect(!found == !wanted, "%zu: %.60s", i, found ? found : "none");
        cr_expect(!found || strncmp(found + strlen("\"tensors\":"), wanted, strlen(wanted)) == 0,
                  "%zu: %.80s", i, found ? found : "none");
        free(found);
    }
}

Test(picture_page, needs_a_recording)
{
    static const char *const bad[] = {"", "{", "[]\n", "{\"kernel\":\"k\"}\n", "{\"steps\":1}\n"};
    struct st_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("recordings", bad[i]);
        cr_expect_eq(make(NULL, NULL, &err), ST_BAD_FORMAT, "%s", bad[i]);
        cr_expect(!file_exists(in_folder("run.html")), "%s", bad[i]);
    }
    unlink(in_folder("recordings"));
    cr_expect_neq(make(NULL, NULL, &err), ST_OK);
}
