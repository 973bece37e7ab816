#!/bin/sh
# The part of mutations.sh that runs with all tests.
exec "$(dirname "$0")/mutations.sh" --sample
