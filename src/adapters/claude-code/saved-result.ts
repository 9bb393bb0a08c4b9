import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { textOf } from '../../base/json.ts';

/**
 * True if a call of Claude Code reads a tool result of its own conversation. Claude Code saves a result that is too
 * long for its model in a file next to the transcript, and the model reads the parts that it needs. The model was
 * entitled to the whole result, so the call needs no decision.
 * @param transcript the path of the conversation's transcript file, also that of a sub-agent
 */
export function isReadOfSavedResult(
  transcript: string,
  tool: string,
  input: { readonly [name: string]: unknown },
): boolean {
  const path = tool === 'Read' ? textOf(input['file_path']) : null;
  if (path === null || basename(path) === '..' || path.includes('\0')) return false;
  const inSubAgent = basename(dirname(transcript)) === 'subagents';
  const conversation = inSubAgent ? dirname(dirname(transcript)) : transcript.replace(/\.jsonl$/, '');
  return dirname(path) === join(conversation, 'tool-results');
}

/** True if a path is a regular file with one hard link, so that it is the file that Claude Code wrote there. */
export function isFileWithOneLink(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.nlink === 1;
}
