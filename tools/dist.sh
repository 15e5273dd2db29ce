#!/usr/bin/env bash
# Writes quarksmith-VERSION.tar.gz: the files of the last commit and all that is rendered from them, for machines without
# Python. The same commit gives the same bytes. The argument is the Python that renders; OVERWRITE=1 replaces the file.
set -eu
python=$(command -v "${1:-python3}")
case $python in /*) ;; *) python=$PWD/$python ;; esac
cd "$(dirname "$0")/.."
fail() {
  echo "dist: error: $*" >&2
  exit 1
}
version=$(sed -n 's/^project(quarksmith VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=quarksmith-$version
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] || fail "$PWD is no git clone; a tarball is made of a commit"
changed=$(git status --porcelain)
[ -z "$changed" ] || fail "uncommitted changes would be left out; commit or stash them:
$changed"
[ ! -e "$name.tar.gz" ] || [ -n "${OVERWRITE:-}" ] || fail "$name.tar.gz exists; remove it or give OVERWRITE=1"

work=$(mktemp -d)
trap 'rm -rf "$work" "$name.tar.gz.part"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$work"
cp -r "$work/$name/generated" "$work/committed"
(cd "$work/$name" && PYTHONDONTWRITEBYTECODE=1 "$python" -m generator generate)
stale=$(diff -rq "$work/committed" "$work/$name/generated" | grep -v "^Only in $work/$name/" || true)
[ -z "$stale" ] || fail "generated/ is not what the commit renders; commit the result of 'make generate':
$stale"
tar -c --sort=name --format=gnu --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner \
  --mode=u=rwX,go=rX -C "$work" "$name" | gzip -9n > "$name.tar.gz.part"
mv "$name.tar.gz.part" "$name.tar.gz"
echo "wrote $name.tar.gz ($(($(stat -c %s "$name.tar.gz") / 1024)) KiB) of commit $(git rev-parse --short HEAD)"
