#!/bin/sh
# Runs the sample of mutations.sh that belongs to `make test`.
exec "$(dirname "$0")/mutations.sh" --sample
