/* A question of PrairieLearn that hands a milestone to the external grader: info.json, whose keys
 * https://docs.prairielearn.com/question/ and https://docs.prairielearn.com/externalGrading/
 * describe, and question.html. */
#include "grader/export/autograders.h"

#include "base/files.h"
#include "base/page_template.h"
#include "base/sha256.h"
#include "grader/course/milestone.h"
#include "grader/export/format_parts.h"

#include <cjson/cJSON.h>
#include <string.h>

extern const char prairielearn_question_html[];

/* A question always gets the same UUID, so that exporting it again keeps its submissions on the
 * platform. UUID version 8 of RFC 9562. */
static void add_uuid(cJSON *info, const struct gx_autograder *of)
{
    char name[512], hex[SHA256_HEX], uuid[37];
    snprintf(name, sizeof name, "convlab question %s of %s", of->milestone, of->image);
    sha256_hex(name, strlen(name), hex);
    snprintf(uuid, sizeof uuid, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 15,
             hex + 18);
    cJSON_AddStringToObject(info, "uuid", uuid);
}

static cJSON *info_of(const struct gx_autograder *of, const char *title)
{
    enum { LONGEST_S = 600 };
    cJSON *info = cJSON_CreateObject(), *external;
    add_uuid(info, of);
    gx_json_text(info, "title", title);
    cJSON_AddStringToObject(info, "topic", "Convolution");
    cJSON_AddStringToObject(info, "type", "v3");
    cJSON_AddBoolToObject(info, "singleVariant", true);
    cJSON_AddStringToObject(info, "gradingMethod", "External");
    external = cJSON_AddObjectToObject(info, "externalGradingOptions");
    cJSON_AddBoolToObject(external, "enabled", true);
    cJSON_AddStringToObject(external, "image", of->image);
    cJSON_AddStringToObject(external, "entrypoint", "/convlab/source/run");
    cJSON_AddNumberToObject(external, "timeout", LONGEST_S);
    cJSON_AddBoolToObject(external, "enableNetworking", false);
    return info;
}

static void put_html(FILE *out, const struct gr_milestone *milestone, const char *title)
{
    char room[PAGE_NAME_CHARS];
    for (const char *at = prairielearn_question_html, *name;
         (name = page_template_next(out, &at, room));)
        fputs(strcmp(name, "title") == 0  ? title
              : strcmp(name, "file") == 0 ? strrchr(milestone->lab_source, '/') + 1
                                          : milestone->id,
              out);
}

enum st_code gx_prairielearn_question(const struct gx_autograder *of, const char *folder,
                                      struct st_error *err)
{
    struct gr_milestone milestone;
    struct file_out out;
    char to[PATH_MAX], title[128];
    enum st_code code = gr_milestone_find(&milestone, of->milestone, err);
    if (code)
        return code;
    snprintf(title, sizeof title, "ConvLab %s", milestone.folder);
    path_format(to, sizeof to, "%s/info.json", folder);
    if ((code = file_out_open(&out, to, err)))
        return code;
    if ((code = gx_json_print(out.f, info_of(of, title), false, err))) {
        file_out_abort(&out);
        return code;
    }
    if ((code = file_out_commit(&out, err)))
        return code;
    path_format(to, sizeof to, "%s/question.html", folder);
    if ((code = file_out_open(&out, to, err)))
        return code;
    put_html(out.f, &milestone, title);
    return file_out_commit(&out, err);
}
