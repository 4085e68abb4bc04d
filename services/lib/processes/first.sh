#!/bin/sh
# Process 1 of a container: starts the program that its arguments name, passes signals on to it, and ends as it does. The
# system drops a signal to process 1 that it does not handle yet, and node takes half a second until it does: a SIGTERM
# in that time would be lost, and the pod killed at the end of its grace period. As a child of this, node ends by it.
child=
trap 'if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; else exit 143; fi' TERM
trap 'if [ -n "$child" ]; then kill -INT "$child" 2>/dev/null; else exit 130; fi' INT
"$@" &
child=$!
# A signal ends the wait, and not the child.
while :; do
  wait "$child"
  status=$?
  kill -0 "$child" 2>/dev/null || exit "$status"
done
