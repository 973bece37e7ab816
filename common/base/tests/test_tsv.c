#include "base/tsv.h"

#include "base/tests/temp_folder.h"
#include "base/tests/test_text.h"

#include <string.h>

TestSuite(tsv, .init = temp_folder_make, .fini = temp_folder_remove);

static enum st_code read_text(const char *text, struct tsv *table, struct st_error *err)
{
    return tsv_read(temp_file("table.tsv", text, strlen(text)), table, err);
}

Test(tsv, a_table_reads_back_as_written_whatever_its_fields_hold)
{
    const char *const rows[][3] = {{"name", "value", "note"},
                                   {"", "\t", "\n\r\\"},
                                   {"\\t", "\\\\n", "a\tb\nc"},
                                   {"caf\xc3\xa9", "1.5", "\\"}};
    FILE *out = fopen(temp_path("t.tsv"), "w");
    for (int i = 0; i < 4; i++)
        tsv_write_row(out, 3, rows[i]);
    fclose(out);
    struct tsv table;
    struct st_error err;
    cr_assert_eq(tsv_read(temp_path("t.tsv"), &table, &err), ST_OK, "%s", err.what);
    cr_expect_eq(table.rows, 3);
    cr_expect_eq(table.columns, 3);
    for (int c = 0; c < 3; c++) {
        cr_expect_str_eq(table.header[c], rows[0][c]);
        for (size_t r = 0; r < 3; r++)
            cr_expect_str_eq(tsv_cell(&table, r, c), rows[r + 1][c]);
    }
    tsv_free(&table);
}

Test(tsv, one_row_is_one_line)
{
    const char *const fields[] = {"a\nb", "c"};
    char *text;
    PRINTED(text, tsv_write_row(out, 2, fields));
    cr_expect_str_eq(text, "a\\nb\tc\n");
    free(text);
}

Test(tsv, columns_are_found_by_name)
{
    struct tsv table;
    struct st_error err;
    cr_assert_eq(read_text("a\tb\n1\t2\n3\t4\n", &table, &err), ST_OK);
    cr_expect_eq(tsv_column(&table, "b"), 1);
    cr_expect_eq(tsv_column(&table, "c"), -1);
    cr_expect_str_eq(tsv_cell(&table, 1, tsv_column(&table, "a")), "3");
    tsv_free(&table);
}

Test(tsv, a_header_alone_is_a_table_without_rows)
{
    struct tsv table;
    struct st_error err;
    cr_assert_eq(read_text("a\tb\n", &table, &err), ST_OK);
    cr_expect_eq(table.rows, 0);
    tsv_free(&table);
    tsv_free(&table); /* harmless on a zeroed one */
}

Test(tsv, empty_fields_are_fields)
{
    struct tsv table;
    struct st_error err;
    cr_assert_eq(read_text("a\tb\tc\n\t\t\n", &table, &err), ST_OK);
    for (int c = 0; c < 3; c++)
        cr_expect_str_empty(tsv_cell(&table, 0, c));
    tsv_free(&table);
}

Test(tsv, a_row_with_a_missing_field_is_rejected_with_its_line)
{
    struct tsv table;
    struct st_error err;
    cr_assert_eq(read_text("a\tb\n1\t2\n3\n", &table, &err), ST_BAD_FORMAT);
    cr_expect(strstr(err.where, "table.tsv:3"), "%s", err.where);
    cr_expect_str_eq(err.expected, "2");
    cr_expect_str_eq(err.got, "1");
    cr_expect_null(table.storage);
}

Test(tsv, a_row_with_a_field_too_many_is_rejected)
{
    struct tsv table;
    struct st_error err;
    cr_assert_eq(read_text("a\tb\n1\t2\t3\n", &table, &err), ST_BAD_FORMAT);
    cr_expect_str_eq(err.got, "3");
}

Test(tsv, a_last_line_without_newline_is_rejected_as_truncated)
{
    struct tsv table;
    struct st_error err;
    cr_expect_eq(read_text("a\tb\n1\t2", &table, &err), ST_TRUNCATED);
    cr_expect(strstr(err.where, "table.tsv"));
    cr_expect_eq(read_text("", &table, &err), ST_TRUNCATED);
    cr_expect_null(table.header);
}

Test(tsv, a_nul_byte_is_rejected)
{
    struct tsv table;
    struct st_error err;
    cr_expect_eq(tsv_read(temp_file("n.tsv", "a\nb\0c\n", 6), &table, &err), ST_BAD_FORMAT);
    cr_expect(strstr(err.what, "NUL"));
    cr_expect(strstr(err.where, "byte 3"), "%s", err.where);
}

Test(tsv, a_missing_file_is_reported_with_its_path)
{
    struct tsv table;
    struct st_error err;
    cr_expect_eq(tsv_read(temp_path("none.tsv"), &table, &err), ST_NOT_FOUND);
    cr_expect(strstr(err.where, "none.tsv"));
}
