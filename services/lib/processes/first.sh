#!/bin/sh
# Process 1 of a container: starts the program that its arguments name, passes signals on to it, and ends as it does. The
# system drops a signal to process 1 that it does not handle yet, and node takes half a second until it does: a SIGTERM
# in that time would be lost, and the pod killed at the end of its grace period. As a child of this, node ends by it. Nothing
# has begun by then, so that it counts as an orderly stop: 0, and not the 143 of a program that a SIGTERM killed.
child=
terminated=
# Until it has become the program, the child is a copy of this shell, and what it catches then is lost.
pass_on() {
  while read -r name <"/proc/$child/comm" && [ "$name" = "$own" ]; do sleep 0.01; done 2>/dev/null
  kill "-$1" "$child" 2>/dev/null
}
trap 'terminated=yes; if [ -n "$child" ]; then pass_on TERM; else exit 0; fi' TERM
trap 'if [ -n "$child" ]; then pass_on INT; else exit 130; fi' INT
read -r own <"/proc/$$/comm"
"$@" &
child=$!
# A signal ends the wait, and not the child.
while :; do
  wait "$child"
  status=$?
  kill -0 "$child" 2>/dev/null && continue
  # The child may have ended in the moment in which a signal ended the wait: what it ended with is known then, and not said yet.
  wait "$child" 2>/dev/null
  last=$?
  [ "$last" -eq 127 ] || status=$last
  [ "$terminated$status" != yes143 ] || status=0
  exit "$status"
done
