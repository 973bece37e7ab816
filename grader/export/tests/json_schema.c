#include "json_schema.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct place {
    char *why, path[256];
    size_t room;
};

static bool wrong(struct place *p, const char *text)
{
    snprintf(p->why, p->room, "%s: %s", *p->path ? p->path : "(top)", text);
    return false;
}

static bool has_type(const cJSON *value, const char *type)
{
    return strcmp(type, "object") == 0   ? cJSON_IsObject(value)
           : strcmp(type, "array") == 0  ? cJSON_IsArray(value)
           : strcmp(type, "string") == 0 ? cJSON_IsString(value)
           : strcmp(type, "number") == 0 ? cJSON_IsNumber(value)
           : strcmp(type, "integer") == 0
               ? cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble)
           : strcmp(type, "boolean") == 0 ? cJSON_IsBool(value)
           : strcmp(type, "null") == 0    ? cJSON_IsNull(value)
                                          : false;
}

static bool check(struct place *p, const cJSON *schema, const cJSON *value);

/* Checks the member of @p value that is one step below this position. */
static bool check_at(struct place *p, const char *step, const cJSON *schema, const cJSON *value)
{
    struct place deeper = *p;
    snprintf(deeper.path, sizeof deeper.path, "%s/%s", p->path, step);
    return check(&deeper, schema, value);
}

static bool one_of(const cJSON *rule, const cJSON *value,
                   bool (*same)(const cJSON *, const cJSON *))
{
    const cJSON *item;
    if (!cJSON_IsArray(rule))
        return same(rule, value);
    cJSON_ArrayForEach(item, rule) if (same(item, value)) return true;
    return false;
}

static bool same_type(const cJSON *type, const cJSON *value)
{
    return has_type(value, type->valuestring);
}

static bool same_value(const cJSON *a, const cJSON *b)
{
    return cJSON_Compare(a, b, true);
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
        abort(); /* the schema itself is wrong */
    bool match = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return match;
}

static bool check_members(struct place *p, const cJSON *schema, const cJSON *value)
{
    const cJSON *properties = cJSON_GetObjectItem(schema, "properties");
    const cJSON *others = cJSON_GetObjectItem(schema, "additionalProperties"), *member;
    cJSON_ArrayForEach(member, value)
    {
        const cJSON *rule = cJSON_GetObjectItemCaseSensitive(properties, member->string);
        rule = rule ? rule : others;
        if (cJSON_IsFalse(rule)) {
            struct place at = *p;
            snprintf(at.path, sizeof at.path, "%s/%s", p->path, member->string);
            return wrong(&at, "no such member");
        }
        if (rule && !check_at(p, member->string, rule, member))
            return false;
    }
    return true;
}

static bool any_of(struct place *p, const cJSON *rule, const cJSON *value)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, rule) if (check(p, item, value)) return true;
    return false; /* *why has the reason of the last alternative */
}

static bool keyword(struct place *p, const cJSON *schema, const cJSON *rule, const cJSON *value)
{
    const char *word = rule->string;
    const cJSON *item;
    char step[16];
    int at = 0;
    if (strcmp(word, "type") == 0)
        return one_of(rule, value, same_type) || wrong(p, "another type");
    if (strcmp(word, "enum") == 0 || strcmp(word, "const") == 0)
        return one_of(rule, value, same_value) || wrong(p, "none of the values");
    if (strcmp(word, "required") == 0) {
        cJSON_ArrayForEach(
            item, rule) if (cJSON_IsObject(value) &&
                            !cJSON_GetObjectItemCaseSensitive(
                                value, item->valuestring)) return wrong(p, item->valuestring);
        return true;
    }
    if (strcmp(word, "properties") == 0)
        return !cJSON_IsObject(value) || check_members(p, schema, value);
    if (strcmp(word, "additionalProperties") == 0)
        return !cJSON_IsObject(value) || cJSON_GetObjectItem(schema, "properties") ||
               check_members(p, schema, value);
    if (strcmp(word, "items") == 0) {
        if (cJSON_IsArray(value))
            cJSON_ArrayForEach(item, value)
            {
                snprintf(step, sizeof step, "%d", at++);
                if (!check_at(p, step, rule, item))
                    return false;
            }
        return true;
    }
    if (strcmp(word, "minItems") == 0)
        return !cJSON_IsArray(value) || cJSON_GetArraySize(value) >= rule->valueint ||
               wrong(p, "too few");
    if (strcmp(word, "minimum") == 0)
        return !cJSON_IsNumber(value) || value->valuedouble >= rule->valuedouble ||
               wrong(p, "too small");
    if (strcmp(word, "maximum") == 0)
        return !cJSON_IsNumber(value) || value->valuedouble <= rule->valuedouble ||
               wrong(p, "too large");
    if (strcmp(word, "pattern") == 0)
        return !cJSON_IsString(value) || matches(rule->valuestring, value->valuestring) ||
               wrong(p, "another form");
    if (strcmp(word, "anyOf") == 0)
        return any_of(p, rule, value);
    if (strcmp(word, "$comment") == 0)
        return true;
    char what[96];
    snprintf(what, sizeof what, "json_schema.h does not know the schema's keyword '%.40s'", word);
    return wrong(p, what);
}

static bool check(struct place *p, const cJSON *schema, const cJSON *value)
{
    const cJSON *rule;
    cJSON_ArrayForEach(rule, schema) if (!keyword(p, schema, rule, value)) return false;
    return true;
}

bool schema_accepts(const cJSON *schema, const cJSON *value, char *why, size_t room)
{
    struct place p = {.why = why, .room = room};
    *why = '\0';
    return check(&p, schema, value);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

static cJSON *json_of(yaml_document_t *document, yaml_node_t *node)
{
    cJSON *to;
    if (node->type == YAML_SCALAR_NODE) {
        const char *text = (const char *)node->data.scalar.value;
        bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        char *end;
        double number = strtod(text, &end);
        if (plain && *text && !*end)
            return cJSON_CreateNumber(number);
        if (plain && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
            return cJSON_CreateBool(*text == 't');
        return cJSON_CreateString(text);
    }
    if (node->type == YAML_SEQUENCE_NODE) {
        to = cJSON_CreateArray();
        for (yaml_node_item_t *i = node->data.sequence.items.start;
             i < node->data.sequence.items.top; i++)
            cJSON_AddItemToArray(to, json_of(document, yaml_document_get_node(document, *i)));
        return to;
    }
    to = cJSON_CreateObject();
    for (yaml_node_pair_t *i = node->data.mapping.pairs.start; i < node->data.mapping.pairs.top;
         i++) {
        yaml_node_t *key = yaml_document_get_node(document, i->key);
        cJSON_AddItemToObject(to, (const char *)key->data.scalar.value,
                              json_of(document, yaml_document_get_node(document, i->value)));
    }
    return to;
}

cJSON *yaml_as_json(const char *text)
{
    yaml_parser_t parser;
    yaml_document_t document;
    cJSON *to = NULL;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (yaml_parser_load(&parser, &document)) {
        yaml_node_t *root = yaml_document_get_root_node(&document);
        to = root ? json_of(&document, root) : NULL;
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return to;
}
