"""Harbor's Claude Code, inside of hopgate: `harbor run --agent harbor_hopgate:HopgateClaudeCode`.

Written against Harbor 0.22. See docs/recipes/measure-a-real-model.md.
"""

import shlex
from pathlib import Path

from harbor.agents.installed.claude_code import ClaudeCode
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

PREFIX = "/opt/hopgate"
PROGRAMS = f"{PREFIX}/node_modules/.bin"
SYSTEM_PACKAGES = """
command -v bwrap && command -v git && exit
if command -v apt-get; then apt-get update && apt-get install -y bubblewrap git
elif command -v dnf; then dnf install -y bubblewrap git
else apk add bubblewrap git
fi
"""


class HopgateClaudeCode(ClaudeCode):
    """Differs from Harbor's own agent in one program: `claude` starts Claude Code through `hopgate claude`.

    Args (by `--agent-kwarg`):
        bundle: the folder on this machine that holds hopgate and its Node, as the recipe makes it.
    """

    def __init__(self, logs_dir: Path, bundle: str = "hopgate-bundle", *args, **kwargs):
        super().__init__(logs_dir, *args, **kwargs)
        self._bundle = Path(bundle)
        if not (self._bundle / "node_modules" / "hopgate").is_dir():
            raise ValueError(f"{bundle} holds no hopgate: npm install --prefix {bundle} node@24 hopgate")

    @staticmethod
    def name() -> str:
        return "hopgate-claude-code"

    async def install(self, environment: BaseEnvironment) -> None:
        await super().install(environment)
        await self.exec_as_root(environment, command=SYSTEM_PACKAGES)
        await environment.upload_dir(self._bundle, PREFIX)
        await environment.upload_file(Path(__file__).with_name("claude-in-hopgate.sh"), f"{PREFIX}/claude-in-hopgate.sh")
        await self.exec_as_root(environment, command=f"chmod -R a+rX {PREFIX}")
        logs = self.environment_logs_dir
        launcher = "\n".join(
            [
                "#!/bin/sh",
                f'export PATH="{PROGRAMS}:$PATH"',
                "export HOPGATE_CLAUDE=@REAL@",
                f"export XDG_STATE_HOME={shlex.quote(str(logs / 'state'))}",
                f"export HOPGATE_VERDICTS={shlex.quote(str(logs / 'hopgate-verify.jsonl'))}",
                f'exec sh {PREFIX}/claude-in-hopgate.sh "$@"',
                "",
            ]
        )
        # A second install finds the launcher of the first one in place of Claude Code.
        await self.exec_as_agent(
            environment,
            command=(
                'export PATH="$HOME/.local/bin:$PATH"; real=$(readlink -f "$(command -v claude)"); '
                'if ! grep -q HOPGATE_CLAUDE "$real"; then '
                'mkdir -p "$HOME/.local/bin"; rm -f "$HOME/.local/bin/claude"; '
                f'printf %s {shlex.quote(launcher)} | sed "s|@REAL@|$real|" > "$HOME/.local/bin/claude"; '
                'chmod +x "$HOME/.local/bin/claude"; fi'
            ),
        )

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        await self.exec_as_agent(environment, command="git rev-parse --show-toplevel > /dev/null")
        await super().run(instruction, environment, context)
