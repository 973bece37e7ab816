/** @file
 * Splits PTX text into tokens. A mnemonic with its suffixes ("ld.global.v4.f32", "%tid.x") is one
 * word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token_kind {
    PTX_END,       /**< end of the text */
    PTX_WORD,      /**< name, register, label or mnemonic */
    PTX_DIRECTIVE, /**< word that starts with a dot */
    PTX_INTEGER,
    PTX_FLOAT,  /**< 0f and 0d literals, decimal fractions: the value's bits as a double or float */
    PTX_STRING, /**< without its quotes */
    PTX_PUNCTUATION,
    PTX_BAD, /**< a character that is not valid in PTX */
};

struct ptx_token {
    enum ptx_token_kind kind;
    const char *text;
    size_t length;
    int line;
    uint64_t bits;  /**< of integers and floats */
    bool is_single; /**< of floats: `bits` holds a float, not a double */
};

struct ptx_lexer {
    const char *at, *end;
    int line;
};

void ptx_lex_start(struct ptx_lexer *lexer, const char *text, size_t bytes);
/** Reads the next token; never moves past the end of the text. */
struct ptx_token ptx_lex_next(struct ptx_lexer *lexer);
/** @return whether a token is a given word, directive or punctuation. */
bool ptx_token_is(const struct ptx_token *token, const char *text);
