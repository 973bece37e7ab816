#!/usr/bin/env python3
"""Runs the notebook of the documentation without a browser, as a student would: in a folder, with its files.

    notebook.py NOTEBOOK FOLDER

Prints all output of its cells; for a picture or table, a line "[image/svg+xml]" or "[text/html]" and its text.
Exit status 1: a cell failed, and its error is the last line. 2: the notebook contains outputs, or is not a notebook.
"""
import sys

import nbclient
import nbformat


def stored_outputs(notebook):
    """The numbers of the cells that were saved with their output."""
    return [
        number
        for number, cell in enumerate(notebook.cells, 1)
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None)
    ]


def print_output(output):
    if output.output_type == "stream":
        print(output.text, end="")
    for kind in ("image/svg+xml", "text/html"):
        if kind in output.get("data", {}):
            print(f"[{kind}] {output.data[kind]}")


def main():
    path, folder = sys.argv[1:]
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    if stored := stored_outputs(notebook):
        print(f"{path}: cells with stored outputs: {stored}: clear them before it is committed")
        return 2
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    error = None
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as failed:
        error = f"{failed.ename}: {failed.evalue}"
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            print_output(output)
    if error:
        print(error)
    return 1 if error else 0


sys.exit(main())
