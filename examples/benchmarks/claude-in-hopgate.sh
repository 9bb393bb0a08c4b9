#!/bin/sh
# Takes the place of `claude` in a benchmark's container: an agent run starts inside of hopgate, any other call goes to
# Claude Code itself. HOPGATE_CLAUDE names the real program. Nobody is there to approve, so both approvals are given.
case " $* " in
  *" --print "* | *" -p "*) ;;
  *) exec "$HOPGATE_CLAUDE" "$@" ;;
esac
[ -f hopgate.yaml ] || hopgate init --no-run-tests >&2 || exit
hopgate claude --claude "$HOPGATE_CLAUDE" --approve execute,deploy "$@"
code=$?
# Nothing observes the agent any more: check the evidence before the container is gone.
hopgate verify --json > "${HOPGATE_VERDICTS:-/dev/null}"
exit $code
