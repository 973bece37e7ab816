"""Grades a repository on Classroom 50, whose runner calls this script in a checkout of it, once per submission.

The script is in CLASSROOM/autograders/ASSIGNMENT/ of the organisation's configuration repository, with the files
that `grader export classroom50-autograder` writes beside it. It writes result.json in the checkout; an exit status
other than 0 means that the submission could not be graded, which is not the student's fault.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent


def run(*words):
    return subprocess.run([str(w) for w in words]).returncode


def committed_at():
    """The date of the graded commit, in UTC."""
    command = ["git", "show", "-s", "--format=%cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ"]
    return subprocess.run(command, env=os.environ | {"TZ": "UTC"}, check=True, capture_output=True, text=True).stdout.strip()


def main():
    lines = (here / "settings").read_text().splitlines()
    settings = {key: value.strip("'") for key, value in (line.split("=", 1) for line in lines)}
    milestone, options = settings["MILESTONE"], settings["GRADER_OPTIONS"].split()
    os.environ["COMMITTED_AT"] = committed_at()
    os.environ.setdefault("OWNER", os.environ.get("USERNAME", ""))
    with tempfile.TemporaryDirectory() as work:
        convlab, graded = pathlib.Path(work, "convlab"), pathlib.Path(work, "graded.json")
        if run("bash", here / "install.sh", here / "convlab-handout.tar.gz", convlab, milestone):
            return 2
        if run("bash", here / "grade.sh", convlab, milestone, ".", graded, *options) >= 2:
            print("this submission was not graded, through no fault of the student (see above)")
            return 2
        return run(convlab / "build/grader", "export", "classroom50", graded, "--out", "result.json")


sys.exit(main())
