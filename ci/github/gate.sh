#!/usr/bin/env bash
# One gate as a step of GitHub Actions: annotations, files, summary, outputs, exit code.
# Reads OPCHECK_* as action.yml sets them.
set -fuo pipefail # no globs: targets and formats are split at spaces

files=$OPCHECK_OUTPUT
mkdir -p "$files"
rm -f "$files"/opcheck.md

common=()
for target in $OPCHECK_TARGETS; do common+=(-t "$target"); done
while IFS= read -r line; do
  if [ -n "$line" ]; then common+=("$line"); fi
done <<<"$OPCHECK_ARGUMENTS"
if [ -n "$OPCHECK_POLICY" ]; then common+=(--policy "$(realpath "$OPCHECK_POLICY")"); fi

against=$OPCHECK_AGAINST
if [ -z "$against" ] && [ -n "$OPCHECK_BASE" ]; then
  base=$(mktemp -d)
  if git fetch --quiet --depth 1 origin "$OPCHECK_BASE" &&
    git worktree add --quiet --detach "$base/tree" "$OPCHECK_BASE"; then
    kept=$(realpath "$files")/base.json
    rm -f "$kept"
    (cd "$base/tree/$(git rev-parse --show-prefix)" &&
      opcheck gate "$OPCHECK_SOURCE" ${common[@]+"${common[@]}"} --quiet --report "$kept" >/dev/null)
    if [ -f "$kept" ]; then against=$files/base.json; fi
    git worktree remove --force "$base/tree"
  fi
  if [ -z "$against" ]; then
    echo "::notice title=opcheck gate::The base has no answer to compare with, so all is new."
  fi
fi

gate=(gate "$OPCHECK_SOURCE" ${common[@]+"${common[@]}"})
if [ -n "$OPCHECK_BASELINE" ]; then gate+=(--baseline "$OPCHECK_BASELINE"); fi
if [ -n "$against" ]; then gate+=(--against "$against"); fi
case $OPCHECK_PLAN:$OPCHECK_SOURCE in
  *.json) ;; # a report is judged as it is
  true:*) gate+=(--plan) ;;
esac
gate+=(--format github --format "text=$files/opcheck.txt" --format "markdown=$files/opcheck.md")
sarif=
for format in $OPCHECK_FORMATS; do
  case $format in
    github | text | markdown) continue ;;
    sarif) file=$files/opcheck.sarif sarif=$files/opcheck.sarif ;;
    junit) file=$files/opcheck.xml ;;
    json) file=$files/opcheck.gate.json ;;
    *) file=$files/opcheck.$format ;;
  esac
  gate+=(--format "$format=$file")
done
gate+=(--report "$files/report.json")

errors=$(mktemp)
opcheck "${gate[@]}" 2> >(tee "$errors" >&2)
code=$?

echo "exit-code=$code" >>"$GITHUB_OUTPUT"
answered=false
case $code in 0 | 10) answered=true ;; esac
# a folder of which one source cannot be judged has an answer all the same
if [ "$code" -eq 3 ] && [ -d "$OPCHECK_SOURCE" ] && [ -s "$files/opcheck.md" ]; then answered=true; fi
if [ "$answered" = false ]; then
  wait
  text=$(<"$errors")
  text=${text//'%'/%25} text=${text//$'\r'/%0D} text=${text//$'\n'/%0A}
  echo "::error title=opcheck gate::$text"
  exit "$code"
fi

echo "::group::opcheck gate $OPCHECK_SOURCE"
cat "$files/opcheck.txt"
echo "::endgroup::"
cat "$files/opcheck.md" >>"$GITHUB_STEP_SUMMARY"
{
  if [ "$code" -eq 0 ]; then echo "passed=true"; else echo "passed=false"; fi
  if [ -n "$sarif" ]; then echo "sarif=$sarif"; fi
  echo "report=$files/report.json"
  echo "comment=$files/opcheck.md"
} >>"$GITHUB_OUTPUT"
if [ "$OPCHECK_FAIL" = true ] || [ "$code" -eq 3 ]; then exit "$code"; fi
