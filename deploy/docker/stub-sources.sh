#!/bin/sh
# Puts an empty program in every place where the manifests of crates/* expect a source file, so that the dependencies can
# be built, and kept as an image layer, from the manifests alone. Only deploy/Dockerfile runs it.
set -eu
for manifest in crates/*/Cargo.toml; do
  dir=${manifest%/Cargo.toml}
  mkdir -p "$dir/src"
  echo 'fn main() {}' >"$dir/src/main.rs"
  : >"$dir/src/lib.rs"
  # Targets that the manifest names: an explicit path, else the place where cargo looks for it.
  awk -F'"' '
    function flush() { if (kind != "") { if (path == "" && kind != "lib") path = place[kind] "/" name ".rs"; if (path != "") print path } }
    BEGIN { place["bin"] = "src/bin"; place["bench"] = "benches"; place["test"] = "tests"; place["example"] = "examples" }
    /^\[/ { flush(); kind = name = path = "" }
    /^\[\[(bin|bench|test|example)\]\]/ { kind = $0; gsub(/[^a-z]/, "", kind) }
    /^\[lib\]/ { kind = "lib" }
    /^name *=/ { name = $2 }
    /^path *=/ { path = $2 }
    /^build *=/ { print $2 }
    END { flush() }
  ' "$manifest" | while read -r file; do
    [ -e "$dir/$file" ] && continue
    mkdir -p "$dir/$(dirname "$file")"
    echo 'fn main() {}' >"$dir/$file"
  done
done
