import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { textOf } from '../../base/json.ts';

/**
 * Recognises a call of Claude Code for one of its own files, which needs no decision; null for any other call.
 *
 * - `result`: it reads a tool result of its own conversation. Claude Code saves a result that is too long for its model
 *   in a file next to the transcript, and the model reads the parts that it needs. The call with this result
 *   has been decided already.
 * - `plan`: it reads or writes a plan in the folder where Claude Code asks its model in plan mode to write one.
 * @param transcript the path of the transcript file of the conversation or of a sub-agent
 */
export function clientFileOfCall(
  transcript: string,
  tool: string,
  input: { readonly [name: string]: unknown },
): 'result' | 'plan' | null {
  const path = textOf(input['file_path']);
  if (path === null || basename(path) === '..' || path.includes('\0')) return null;
  const conversation = conversationFolder(transcript);
  if (tool === 'Read' && dirname(path) === join(conversation, 'tool-results')) return 'result';
  const isPlan = ['Read', 'Edit', 'Write'].includes(tool) && path.endsWith('.md');
  return isPlan && dirname(path) === join(settingsFolder(transcript), 'plans') ? 'plan' : null;
}

function conversationFolder(transcript: string): string {
  const inSubAgent = basename(dirname(transcript)) === 'subagents';
  return inSubAgent ? dirname(dirname(transcript)) : transcript.replace(/\.jsonl$/, '');
}

/**
 * The folder of the user's settings that Claude Code uses, found by the path of a transcript. The environment of a hook
 * does not show it reliably, because a repository's settings can change that environment.
 */
export const settingsFolder = (transcript: string): string => dirname(dirname(dirname(conversationFolder(transcript))));

/** True if a path is a regular file with one hard link, so that it is the file that Claude Code wrote there. */
export function isFileWithOneLink(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.nlink === 1;
}

/** True if a path names anything, also a link without a target. */
export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
