#!/usr/bin/env bash
# The answer as a comment on a pull request, in place of the one that an earlier run wrote.
set -euo pipefail

if [ -z "$OPCHECK_PULL_REQUEST" ]; then
  echo "This is no pull request, so there is nothing to comment on."
  exit 0
fi
OPCHECK_MARK=$(head -n 1 "$OPCHECK_COMMENT")
export OPCHECK_MARK
comments=repos/$GITHUB_REPOSITORY/issues/$OPCHECK_PULL_REQUEST/comments
# shellcheck disable=SC2016 # $ENV is jq's
ids=$(gh api --paginate "$comments" --jq '.[] | select(.body | startswith($ENV.OPCHECK_MARK)) | .id')
id=${ids%%$'\n'*}
if [ -n "$id" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F "body=@$OPCHECK_COMMENT"
else
  gh api --silent "$comments" -F "body=@$OPCHECK_COMMENT"
fi
