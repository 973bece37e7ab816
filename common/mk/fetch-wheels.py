#!/usr/bin/env python3
"""Downloads and unpacks wheels; toolkit.sh uses it if pip is missing.

    fetch-wheels.py REQUIREMENTS FOLDER

REQUIREMENTS is what toolkit.sh writes for pip: PACKAGE==VERSION and the hashes of the files that may be used. The
package index is PIP_INDEX_URL, or PyPI; it lists the hash of each file (PEP 503). On failure, prints one line that
starts with ERROR and exits with status 1.
"""
import hashlib
import html.parser
import os
import shutil
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile

INDEX = os.environ.get("PIP_INDEX_URL") or "https://pypi.org/simple"
TIMEOUT_S = 60
TRIES = 3


class Links(html.parser.HTMLParser):
    """The addresses on a page of the index."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found += [value for name, value in attributes if name == "href" and value]


def download(address, to=None):
    """The bytes at an address, or written to a file. Repeats a broken download."""
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or None)
    for left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT_S, context=context) as answer:
                if to is None:
                    return answer.read()
                with open(to, "wb") as file:
                    while part := answer.read(1 << 20):
                        file.write(part)
                return None
        except urllib.error.HTTPError as error:
            raise SystemExit(f"ERROR: the package index returned {error.code} {error.reason} for {address}")
        except (urllib.error.URLError, TimeoutError, ConnectionError, ssl.SSLError) as error:
            if not left:
                raise SystemExit(f"ERROR: Failed to establish a connection to {address}: {error}")


def address_of(package, hashes):
    """The address in the index of the file with one of these hashes."""
    page = f"{INDEX.rstrip('/')}/{package}/"
    for link in Links(download(page).decode(errors="replace")).found:
        address, _, mark = urllib.parse.urljoin(page, link).partition("#")
        if mark.startswith("sha256=") and mark[len("sha256="):] in hashes:
            return address
    raise SystemExit(f"ERROR: {page} lists no file with a hash of common/mk/toolkits.tsv")


def fetch(requirement, folder):
    name, *options = requirement.split()
    hashes = {o.partition("sha256:")[2] for o in options}
    wheel = os.path.join(folder, "wheel.part")
    address = address_of(name.partition("==")[0], hashes)
    download(address, wheel)
    digest = hashlib.sha256()
    with open(wheel, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    if digest.hexdigest() not in hashes:
        # pip's words, which toolkit.sh searches for
        raise SystemExit(f"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES\n    {name} from {address}")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    os.remove(wheel)


def main():
    requirements, folder = sys.argv[1:]
    try:
        with open(requirements) as file:
            for line in file:
                fetch(line, folder)
    except (OSError, zipfile.BadZipFile) as error:
        # if the disk is full, this frees space for the file with this message
        shutil.rmtree(folder, ignore_errors=True)
        raise SystemExit(f"ERROR: {error}")


main()
