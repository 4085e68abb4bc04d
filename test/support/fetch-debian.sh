#!/bin/sh
# Unpacks Debian packages, and required libraries that this machine lacks, into a folder. Installs nothing.
# Usage: fetch-debian.sh FOLDER PACKAGE...   Concurrent callers wait for each other; the work is done once.
# SUITE=trixie, for example, takes packages and all libraries from that release; such a program needs its own loader.
set -eu

folder=$1
shift
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
[ -e "$folder/complete" ] && exit 0

work=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

if [ -n "${SUITE:-}" ]; then
  mkdir -p apt/lists/partial apt/cache/archives/partial
  # Uses the mirrors that this machine is configured with.
  mirror=$(apt-get indextargets --format '$(SITE)' | grep -m 1 '/debian/*$') ||
    { echo "apt knows no mirror of Debian on this machine" >&2 && exit 1; }
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $SUITE main" >apt/sources.list
  printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\nDir::State::lists "%s";\nDir::Cache "%s";\n' \
    "$work/apt/sources.list" "$work/apt/lists" "$work/apt/cache" >apt.conf
  export APT_CONFIG="$work/apt.conf"
  apt-get update -q
fi

installed() { [ -z "${SUITE:-}" ] && dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }

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

# Package lists may be missing on a new machine.
# shellcheck disable=SC2086
apt-get download -q $wanted 2>/dev/null || { apt-get update -q && apt-get download -q $wanted; }
mkdir root
for package in *.deb; do dpkg -x "$package" root; done
touch root/complete
rm -rf "$folder"
mv root "$folder"
