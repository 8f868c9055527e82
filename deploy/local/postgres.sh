#!/usr/bin/env bash
# Finds or gets a PostgreSQL server for a while and says which. Works with bash 3.2, as root and as a user.
#
#   postgres.sh start --dir DIR [--fast] [--database NAME]
#       Prints `export …` lines for eval: DATABASE_URL, TEST_DATABASE_URL and DATABASE_URL_ADMIN. Notes go to standard error.
#       --fast      no fsync: for tests, whose data nobody needs after a power cut
#       --database  makes a fresh database for DATABASE_URL (dropped again by `stop`)
#   postgres.sh sql --dir DIR [--database NAME] STATEMENT
#       Runs it on that server as its administrator, with whatever psql there is, Docker's included.
#   postgres.sh stop --dir DIR
#       Stops what `start` started, by its id, and removes it and DIR.
#
# In this order: the server that DATABASE_URL_ADMIN or DATABASE_URL names; installed server binaries in a throw-away
# cluster; the package of apt (as root) or Homebrew, then the same; Docker's postgres:17.
# DIR holds what `stop` must know. Prefer with-postgres.sh, which always stops.
set -euo pipefail

oldest=15 # the oldest major version that the tests run on
image=postgres:17
settings='max_connections=200 shared_buffers=256MB max_wal_size=2GB'

note() { printf 'postgres: %s\n' "$*" >&2; }
fail() { note "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# ---- who runs the server: initdb and postgres refuse root

owner=
choose_owner() {
  local name
  owner=
  [ "$(id -u)" = 0 ] || return 0
  for name in postgres _postgres nobody; do
    if id -u "$name" >/dev/null 2>&1; then owner=$name; return 0; fi
  done
  fail 'running as root, and there is no user (postgres, nobody) to run the server as'
}

as_owner() (
  cd /
  export LC_ALL=C
  if [ -z "$owner" ]; then exec "$@"
  elif have runuser; then exec runuser -u "$owner" -- "$@"
  elif have setpriv; then exec setpriv --reuid="$(id -u "$owner")" --regid="$(id -g "$owner")" --init-groups -- "$@"
  elif have sudo; then exec sudo -n -u "$owner" -- "$@"
  else exec su -s /bin/sh "$owner" -c "$(printf '%q ' "$@")"
  fi
)

# ---- installed server binaries

bin=
version_of() { LC_ALL=C "$1/postgres" --version 2>/dev/null | sed 's/^[^0-9]*\([0-9][0-9]*\).*/\1/'; }

usable() {
  [ -x "$1/initdb" ] && [ -x "$1/pg_ctl" ] && [ -x "$1/postgres" ] || return 1
  as_owner test -x "$1/postgres" || return 1
  local version
  version=$(version_of "$1")
  [ "${version:-0}" -ge "$oldest" ]
}

# The one on PATH, else the newest of the usual places.
find_binaries() {
  local dir version best=0 seen
  bin=
  if seen=$(command -v initdb 2>/dev/null); then
    dir=$(cd "$(dirname "$seen")" && pwd)
    if usable "$dir"; then bin=$dir; return 0; fi
  fi
  for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/libexec/postgresql* \
    /opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin /Applications/Postgres.app/Contents/Versions/latest/bin; do
    usable "$dir" || continue
    version=$(version_of "$dir")
    if [ "$version" -gt "$best" ]; then best=$version; bin=$dir; fi
  done
  [ -n "$bin" ]
}

install_package() {
  if [ "$(id -u)" = 0 ] && have apt-get; then
    note 'no server binaries found: installing the Debian package postgresql'
    # The package would also make and start a cluster of its own, which nothing here needs.
    local quiet=/etc/postgresql-common/createcluster.d/ordem-none.conf code=0
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -q && apt-get install -yq --no-install-recommends postgresql-common; } >&2 || return 1
    mkdir -p "${quiet%/*}"
    echo 'create_main_cluster = false' >"$quiet"
    apt-get install -yq --no-install-recommends postgresql >&2 || code=1
    rm -f "$quiet"
    return "$code"
  fi
  if have brew; then
    note 'no server binaries found: installing postgresql@17 with Homebrew'
    brew install postgresql@17 >&2
    return
  fi
  return 1
}

# ---- state: what stop must know

kind='' cluster='' container='' database='' admin_url=''
save() {
  local name
  for name in kind owner bin cluster container database admin_url; do printf '%s=%q\n' "$name" "${!name}"; done >"$dir/state"
}

# ---- addresses

url_with_database() {
  case $1 in
    *://*)
      local rest=${1#*://} query=
      case $rest in *\?*) query="?${rest#*\?}" rest=${rest%%\?*} ;; esac
      printf '%s://%s/%s%s' "${1%%://*}" "${rest%%/*}" "$2" "$query"
      ;;
    *) printf '%s dbname=%s' "$1" "$2" ;;
  esac
}

sql() { # STATEMENT [DATABASE]
  local options=(-XqAt -v ON_ERROR_STOP=1 -c "$1") url=$admin_url
  if [ -n "${2:-}" ]; then url=$(url_with_database "$admin_url" "$2"); fi
  if [ "$kind" = container ]; then docker exec -i "$container" psql "${options[@]}" -U postgres -d "${2:-postgres}"
  elif [ -n "$bin" ] && [ -x "$bin/psql" ]; then "$bin/psql" "${options[@]}" -d "$url"
  elif have psql; then psql "${options[@]}" -d "$url"
  else note 'psql is not installed'; return 1
  fi
}

# ---- the three ways

start_given() {
  kind=given admin_url=${DATABASE_URL_ADMIN:-${DATABASE_URL:-}}
  save
  if have psql; then
    sql 'select 1' >/dev/null || fail "the server that $1 names does not answer"
  fi
  note "the server that $1 names"
}

free_port() {
  local port tries=0
  while [ "$tries" -lt 50 ]; do
    port=$((15433 + (RANDOM * 32768 + RANDOM) % 15000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "$port"; return 0; fi
    tries=$((tries + 1))
  done
  fail 'no free port found'
}

start_cluster() {
  local parent=${TMPDIR:-/tmp} port setting tries=0
  # The owner must reach the folder, and a socket's path has about a hundred bytes at most.
  if [ "${#parent}" -gt 60 ] || ! as_owner test -x "$parent"; then parent=/tmp; fi
  kind=cluster
  cluster=$(mktemp -d "${parent%/}/ordem-pg.XXXXXX")
  save
  if [ -n "$owner" ]; then chown "$owner" "$cluster"; fi
  as_owner "$bin/initdb" -D "$cluster/data" -U postgres -A trust -E UTF8 --no-locale -N >"$dir/initdb.log" 2>&1 ||
    { cat "$dir/initdb.log" >&2; fail 'initdb failed'; }
  {
    printf "listen_addresses = '127.0.0.1'\nunix_socket_directories = '%s'\n" "$cluster"
    for setting in $settings; do echo "${setting%%=*} = ${setting#*=}"; done
    if [ -n "$fast" ]; then printf 'fsync = off\nfull_page_writes = off\n'; fi
  } >>"$cluster/data/postgresql.conf"
  # Another program may take the port between the look and the bind.
  while :; do
    port=$(free_port)
    if as_owner "$bin/pg_ctl" -D "$cluster/data" -l "$cluster/log" -o "-p $port" -w -t 60 start >/dev/null 2>&1; then break; fi
    tries=$((tries + 1))
    if [ "$tries" = 3 ]; then tail -n 20 "$cluster/log" >&2 || true; fail "the server in $bin did not start"; fi
  done
  admin_url="postgres://postgres@127.0.0.1:$port/postgres"
  save
  note "PostgreSQL $(version_of "$bin") from $bin, a throw-away cluster on 127.0.0.1:$port${owner:+, run as $owner}${fast:+, fsync off}"
}

start_container() {
  local password port setting tries=0
  local options=()
  for setting in $settings ${fast:+fsync=off full_page_writes=off}; do options+=(-c "$setting"); done
  password=$(LC_ALL=C od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  kind=container
  container=$(docker run -d --label ordem.throw-away=1 --shm-size 256m -e POSTGRES_PASSWORD="$password" -p 127.0.0.1::5432 \
    "$image" "${options[@]}") || fail "docker could not start $image"
  save
  # Over TCP: while the image sets itself up, it listens on its socket alone.
  until docker exec -e PGPASSWORD="$password" "$container" psql -h 127.0.0.1 -U postgres -qAtc 'select 1' >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" = 120 ]; then docker logs --tail 20 "$container" >&2; fail "$image did not become ready"; fi
    sleep 0.5
  done
  port=$(docker port "$container" 5432/tcp | sed -n 's/^.*:\([0-9]*\)$/\1/p' | head -n 1)
  [ -n "$port" ] || fail "docker published no port for $image"
  admin_url="postgres://postgres:$password@127.0.0.1:$port/postgres"
  save
  note "$image in a Docker container on 127.0.0.1:$port${fast:+, fsync off}"
}

# ---- commands

start() {
  local url
  [ ! -e "$dir/state" ] || fail "$dir is in use: stop it first"
  mkdir -p "$dir"
  choose_owner
  if [ -n "${DATABASE_URL_ADMIN:-}" ]; then start_given DATABASE_URL_ADMIN
  elif [ -n "${DATABASE_URL:-}" ]; then start_given DATABASE_URL
  elif find_binaries; then start_cluster
  elif install_package && choose_owner && find_binaries; then start_cluster # the package may have brought the user
  elif have docker && docker info >/dev/null 2>&1; then start_container
  else
    fail "no PostgreSQL to be had. Any of these will do: DATABASE_URL for a running server; the server binaries, $oldest or later" \
      '(Debian: apt-get install postgresql; macOS: brew install postgresql@17); a running Docker.'
  fi
  url=${DATABASE_URL:-$admin_url}
  if [ -n "$want_database" ]; then
    if [ "$kind" = given ]; then want_database=${want_database}_$$; fi
    sql "create database \"$want_database\"" >/dev/null || fail "could not make the database $want_database"
    database=$want_database
    save
    url=$(url_with_database "$admin_url" "$database")
    note "made the database $database"
  fi
  printf 'export DATABASE_URL=%q TEST_DATABASE_URL=%q DATABASE_URL_ADMIN=%q\n' "$url" "${TEST_DATABASE_URL:-$admin_url}" "$admin_url"
}

stop() {
  [ -f "$dir/state" ] || { rm -rf "$dir"; return 0; }
  # shellcheck source=/dev/null
  . "$dir/state"
  case $kind in
    given)
      if [ -n "$database" ]; then sql "drop database if exists \"$database\" with (force)" >/dev/null || note "could not drop $database"; fi
      ;;
    cluster)
      local pid
      pid=$(head -n 1 "$cluster/data/postmaster.pid" 2>/dev/null || true)
      # Nobody needs the data any more, so no checkpoint.
      if [ -n "$pid" ] && ! as_owner "$bin/pg_ctl" -D "$cluster/data" -m immediate -w -t 30 stop >/dev/null 2>&1; then
        # An id may have gone to another process since.
        case $(ps -o args= -p "$pid" 2>/dev/null) in *"$cluster"*) kill -KILL "$pid" 2>/dev/null || true ;; esac
      fi
      case ${cluster##*/} in ordem-pg.*) rm -rf "$cluster" ;; esac
      ;;
    container) docker rm -f -v "$container" >/dev/null ;;
  esac
  rm -rf "$dir"
}

ask() {
  # shellcheck source=/dev/null
  . "$dir/state"
  sql "$statement" "$want_database"
}

command=${1:-} dir='' fast='' want_database='' statement=''
[ $# -eq 0 ] || shift
while [ $# -gt 0 ]; do
  case $1 in
    --dir) dir=${2:?--dir wants a folder}; shift ;;
    --fast) fast=1 ;;
    --database) want_database=${2:?--database wants a name}; shift ;;
    *)
      if [ "$command" != sql ] || [ -n "$statement" ]; then fail "unknown argument $1"; fi
      statement=$1
      ;;
  esac
  shift
done
case $command in
  start | stop) [ -n "$dir" ] || fail '--dir DIR is missing'; "$command" ;;
  sql)
    if [ -z "$dir" ] || [ -z "$statement" ]; then fail '--dir DIR or the statement is missing'; fi
    ask
    ;;
  *) sed -n '2,/^set /p' "$0" | sed -n 's/^# \{0,1\}//p' >&2; exit 2 ;;
esac
