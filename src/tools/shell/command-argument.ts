import { existsSync } from 'node:fs';
import type { ToolCall } from '../../ports/tool-backend.ts';
import { invalid, type Stop } from '../workspace/outcome.ts';

/** The kernel's maximum for a single argument (MAX_ARG_STRLEN). */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;

/** The argv that runs a shell tool's `command`. The text is not interpreted: the kernel decides. */
export function shellCommand(call: ToolCall): readonly string[] | Stop {
  const { command } = call.args;
  const again = 'Give one command line, such as "ls -la src | head".';
  if (typeof command !== 'string') return invalid('command', '"command" must be a string.', again);
  if (command.trim() === '') return invalid('command', '"command" is empty.', again);
  if (command.includes('\0')) return invalid('command', '"command" contains a NUL character.', again);
  if (!command.isWellFormed()) return invalid('command', '"command" is not well-formed Unicode.', again);
  if (Buffer.byteLength(command) > MAX_COMMAND_BYTES)
    return invalid(
      'command',
      `"command" is longer than ${MAX_COMMAND_BYTES} bytes.`,
      'Put the text into a file first.',
    );
  return [existsSync('/usr/bin/bash') ? 'bash' : 'sh', '-c', command];
}
