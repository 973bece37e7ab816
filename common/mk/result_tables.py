"""Tables of measured results (TSV), for the scripts that make pages from them."""
import csv
import os
import sys


def read(folder, name):
    """The rows of NAME.tsv, each a dictionary by column."""
    with open(os.path.join(folder, name + ".tsv"), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_all(program, folder, prefix, names, made_by):
    """All tables of a page: {name: rows}. Ends the program if one is missing."""
    for name in names:
        if not os.path.exists(os.path.join(folder, f"{prefix}{name}.tsv")):
            print(f"{program}: {folder}/{prefix}{name}.tsv is missing (hint: run: {made_by})", file=sys.stderr)
            sys.exit(2)
    return {name: read(folder, prefix + name) for name in names}


def markdown(header, alignment, rows):
    """A Markdown table. @param alignment  of each column: l or r"""
    line = "|" + "|".join({"l": "---", "r": "---:"}[a] for a in alignment) + "|"
    return "\n".join([header, line] + ["| " + " | ".join(row) + " |" for row in rows])


def fill(path, values):
    """The text of a file, with each {{name}} replaced by its value."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, value in values.items():
        text = text.replace("{{" + name + "}}", str(value))
    return text


def write(folder, name, text):
    """Writes a page, completely or not at all."""
    path = os.path.join(folder, name)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
