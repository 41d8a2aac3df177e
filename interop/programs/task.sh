#!/bin/sh
# The work of the suite as a shell script under `handfast serve`: JSON on stdin, JSON on stdout, progress on stderr.
input=$(cat)
value() { printf '%s' "$input" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
text=$(value text)
if [ "$(value mode)" = hold ]; then
  hold=$(value hold)
  echo "50% holding" >&2
  trap ': > "$hold.stopped"; exit 1' TERM
  : > "$hold.begun"
  while [ ! -e "$hold.go" ]; do sleep 0.05; done
fi
printf '{"text":"%s","by":"%s"}\n' "$(printf '%s' "$text" | tr a-z A-Z)" "$INTEROP_NAME"
