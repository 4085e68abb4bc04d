#!/bin/sh
# Unpacks Debian packages, and the libraries they need that this machine lacks, into a folder. Installs nothing.
# Usage: fetch-debian.sh FOLDER PACKAGE...   Callers at the same time wait for one another; the work is done once.
set -eu

folder=$1
shift
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
[ -e "$folder/complete" ] && exit 0

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }

libraries_of() {
  apt-cache depends "$1" | sed -n 's/^ *|\{0,1\}\(Pre\)\{0,1\}Depends: \(lib[^ ]*\).*$/\2/p'
}

wanted=""
queue="$*"
while [ -n "$queue" ]; do
  next=""
  for package in $queue; do
    case " $wanted " in *" $package "*) continue ;; esac
    wanted="$wanted $package"
    for library in $(libraries_of "$package"); do
      installed "$library" || next="$next $library"
    done
  done
  queue=$next
done

work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
# A machine that never asked its mirrors has no package lists yet.
# shellcheck disable=SC2086
apt-get download -q $wanted 2>/dev/null || { apt-get update -q && apt-get download -q $wanted; }
mkdir root
for package in *.deb; do dpkg -x "$package" root; done
touch root/complete
rm -rf "$folder"
mv root "$folder"
