#!/usr/bin/env bash
# Every check that is no test. Runs them all and names those that failed. A tool that is missing is named and its check
# skipped, save kubernetes-validate and promtool, which are put into target/ where Python and apt can. With CI set a check
# that is skipped has failed, but for the two optional ones: cargo-deny, which would take longer to build than all the rest,
# and kubectl, which not every Debian has.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

locked=${CI:+--locked} # CI takes Cargo.lock as it is; at a desk it may follow a changed manifest
failed=() skipped=()
have() { command -v "$1" >/dev/null 2>&1; }
check() { # NAME COMMAND…
  local name=$1
  shift
  printf 'lint: %s\n' "$name"
  if ! "$@"; then failed+=("$name"); fi
}
skip() { # NAME WHY [optional]
  printf 'lint: %s: skipped, %s\n' "$1" "$2"
  skipped+=("$1")
  if [ -n "${CI:-}" ] && [ "${3:-}" != optional ]; then failed+=("$1 (skipped)"); fi
}

# A migration that someone may have run never changes: fixing it is the next migration's work. The base is what was
# published last: MIGRATIONS_BASE, else the newest tag v*, else where the branch left the remote's.
migrations_unchanged() {
  local base=${MIGRATIONS_BASE:-} changed
  if [ -z "$base" ]; then base=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); fi
  if [ -z "$base" ]; then base=$(git merge-base HEAD origin/HEAD 2>/dev/null || git merge-base HEAD origin/main 2>/dev/null); fi
  if [ -z "$base" ]; then echo '  no release and no remote to compare with: nothing is published yet'; return 0; fi
  changed=$(git diff --name-status --no-renames --diff-filter=MD "$base" -- migrations | grep '\.sql$')
  [ -z "$changed" ] && return 0
  printf '  published in %s, and changed since:\n%s\n' "$base" "$changed"
  return 1
}

# refinery runs V<number>__<name>.sql; two with one number would be a merge gone wrong.
migrations_numbered() {
  local bad twice
  bad=$(find migrations -name '*.sql' | grep -vE '/V[0-9]+__[a-z0-9_]+\.sql$')
  twice=$(find migrations -name 'V*.sql' | sed 's/.*\/V0*\([0-9]*\)__.*/\1/' | sort | uniq -d)
  [ -z "$bad$twice" ] || { printf '  misnamed: %s\n  number used twice: %s\n' "${bad:-none}" "${twice:-none}"; return 1; }
}

# The image's dependency layer is built from a list of manifests.
dockerfile_knows_crates() {
  local manifest code=0
  for manifest in crates/*/Cargo.toml; do
    grep -q "^COPY $manifest " deploy/Dockerfile || { echo "  deploy/Dockerfile does not copy $manifest"; code=1; }
  done
  return "$code"
}

one_tls_provider() { # ring beside aws-lc-rs makes rustls panic at start for want of a choice
  local seen
  seen=$(cargo tree ${locked:+"$locked"} --workspace --target all --edges normal,build --invert ring 2>/dev/null)
  [ -z "$seen" ] || { printf '  ring is in the tree:\n%s\n' "$seen"; return 1; }
}

scripts() {
  local file files=()
  while read -r file; do files+=("$file"); done < <(git ls-files --cached --others --exclude-standard '*.sh' .ci/run)
  shellcheck "${files[@]}"
}

validator() { # prints the kubernetes-validate to use
  if have kubernetes-validate; then echo kubernetes-validate; return 0; fi
  local venv=target/lint-venv
  if [ ! -x $venv/bin/kubernetes-validate ]; then
    have python3 || return 1
    echo "lint: installing kubernetes-validate into $venv" >&2
    python3 -m venv $venv >&2 && $venv/bin/pip install --quiet --disable-pip-version-check kubernetes-validate==1.37.0 >&2 || return 1
  fi
  echo $venv/bin/kubernetes-validate
}

promtool() { # prints the promtool to use; Debian's is taken out of the package of the server, which is not installed
  local dir=target/lint-tools seen
  if seen=$(type -P promtool); then echo "$seen"; return 0; fi
  if [ ! -x $dir/promtool ]; then
    have apt-get && have dpkg-deb || return 1
    echo "lint: fetching promtool into $dir" >&2
    rm -rf $dir && mkdir -p $dir/package || return 1
    (cd $dir && apt-get download -q prometheus && dpkg-deb -x prometheus_*.deb package) >/dev/null 2>&1 || return 1
    mv $dir/package/usr/bin/promtool $dir/promtool && rm -rf $dir/package $dir/*.deb
  fi
  echo $dir/promtool
}

alerts() {
  "$1" check rules deploy/monitoring/prometheus-rules.yaml && "$1" test rules deploy/monitoring/prometheus-rules.test.yaml
}

kubernetes() {
  local validate=$1 dir out code=0
  out=$(mktemp -d)
  if have kubectl; then
    for dir in deploy/kubernetes/base deploy/kubernetes/overlays/*; do
      kubectl kustomize "$dir" >"$out/$(basename "$dir").yaml" || code=1
    done
  else
    echo '  kubectl is not installed: the files are checked one by one, not as kustomize puts them together'
    find deploy/kubernetes/base -name '*.yaml' ! -name kustomization.yaml -exec cp {} "$out" \;
  fi
  cp deploy/kubernetes/*.yaml "$out"
  "$validate" --strict --quiet "$out"/*.yaml || code=1
  rm -rf "$out"
  return "$code"
}

compose() { # `config` alone says whether the file is sound; the values are of no interest
  local env
  env=$(mktemp)
  deploy/local/make-env.sh --stdout >"$env"
  "$@" --env-file "$env" -f docker-compose.yml config --quiet
  local code=$?
  rm -f "$env"
  return "$code"
}

check 'formatting' cargo fmt --all --check
check 'Clippy' cargo clippy ${locked:+"$locked"} --workspace --all-targets -- -D warnings
check 'one TLS provider' one_tls_provider
if cargo deny --version >/dev/null 2>&1; then check 'bans, licences, sources' cargo deny --offline check bans licenses sources
else skip 'bans, licences, sources' 'cargo-deny is not installed' optional; fi
check 'migrations: names' migrations_numbered
check 'migrations: unchanged once published' migrations_unchanged
if have shellcheck; then check 'scripts' scripts; else skip 'scripts' 'shellcheck is not installed'; fi
check 'Dockerfile knows every crate' dockerfile_knows_crates
have kubectl || skip 'Kubernetes: kustomize' 'kubectl is not installed' optional
if validate=$(validator); then check 'Kubernetes' kubernetes "$validate"
else skip 'Kubernetes' 'kubernetes-validate is not installed and could not be'; fi
if docker compose version >/dev/null 2>&1; then check 'compose file' compose docker compose
elif have docker-compose; then check 'compose file' compose docker-compose
else skip 'compose file' 'docker compose is not installed'; fi
if promtool=$(promtool); then check 'alerts' alerts "$promtool"
else skip 'alerts' 'promtool is not installed and could not be fetched'; fi
if have python3; then
  check 'documents: metrics, their labels and values' deploy/local/check-docs.py metrics
  check 'documents: alerts' deploy/local/check-docs.py alerts
  check 'documents: a comment for each setting' deploy/local/check-docs.py config
  check 'documents: links' deploy/local/check-docs.py links
  check 'documents: commands' deploy/local/check-docs.py commands
else skip 'documents' 'python3 is not installed'; fi

if [ ${#skipped[@]} -gt 0 ]; then printf 'lint: skipped: '; printf '%s; ' "${skipped[@]}"; echo; fi
if [ ${#failed[@]} -gt 0 ]; then printf 'lint: FAILED: '; printf '%s; ' "${failed[@]}"; echo; exit 1; fi
echo 'lint: ok'
