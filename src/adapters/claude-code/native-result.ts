import { relative } from 'node:path';
import { fieldsOf, textOf } from '../../base/json.ts';
import { isPathWithin } from '../../base/paths.ts';
import type { NativeCallOutcome } from '../../session/native/native-steps.ts';
import type { Fields, Json } from '../../spec/types.ts';

/** Length to which each text of a result is cut, in characters. */
const MAX_TEXT = 200_000;

/** The client's result of a call, in the same shape as the result of the corresponding hopgate tool. */
export function toNativeOutcome(tool: string, response: unknown, root: string): NativeCallOutcome {
  const fields = fieldsOf(response as Json);
  const path = (name: string) => relativePath(root, textOf(fields[name]));
  switch (tool) {
    case 'read': {
      const file = fieldsOf(fields['file']);
      return okOutcomeOf({
        path: relativePath(root, textOf(file['filePath'])),
        content: boundedText(textOf(file['content'])),
        from: numberOf(file['startLine']),
        lines: numberOf(file['totalLines']),
      });
    }
    case 'edit':
      return okOutcomeOf({ path: path('filePath') ?? path('notebook_path'), replacements: replacements(fields) });
    case 'write': {
      const content = textOf(fields['content']) ?? textOf(fields['updated_file']) ?? '';
      return okOutcomeOf({
        path: path('filePath') ?? path('notebook_path'),
        bytes: Buffer.byteLength(content),
        created: fields['type'] === 'create',
      });
    }
    case 'glob':
      return okOutcomeOf({ files: paths(fields['filenames'], root), truncated: fields['truncated'] === true });
    case 'grep':
      return okOutcomeOf({ matches: matchesOf(fields, root), files: paths(fields['filenames'], root) });
    default:
      return okOutcomeOf({ said: boundedText(JSON.stringify(response ?? null)) });
  }
}

export const toNativeFailure = (error: unknown): NativeCallOutcome => ({
  status: 'failed',
  code: 'client-error',
  message: boundedText(textOf(error) ?? 'the client gave no reason') ?? '',
});

function okOutcomeOf(result: { readonly [name: string]: Json | undefined }): NativeCallOutcome {
  const reported = Object.entries(result).filter(([, value]) => value !== undefined && value !== null);
  return { status: 'ok', result: Object.fromEntries(reported) as { [name: string]: Json } };
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const boundedText = (text: string | null): string | null =>
  text === null || text.length <= MAX_TEXT
    ? text
    : `${text.slice(0, MAX_TEXT).toWellFormed()}… (${text.length} characters)`;

function relativePath(root: string, path: string | null): string | null {
  if (path === null) return null;
  return isPathWithin(root, path) ? relative(root, path) : path;
}

const paths = (names: unknown, root: string): Json[] =>
  Array.isArray(names) ? names.flatMap((name) => relativePath(root, textOf(name)) ?? []) : [];

function matchesOf(fields: Fields, root: string): Json[] {
  const lines = (textOf(fields['content']) ?? '').split('\n');
  const matches = lines.flatMap((line) => {
    const [, path, number, text] = /^(.+?):(\d+):(.*)$/.exec(line) ?? [];
    return path === undefined
      ? []
      : [{ path: relativePath(root, path), line: Number(number), text: text ?? '' } as Json];
  });
  return matches.length > 0 ? matches : paths(fields['filenames'], root).map((path) => ({ path }) as Json);
}

function replacements(fields: Fields): number {
  const [whole, old] = [textOf(fields['originalFile']), textOf(fields['oldString'])];
  return fields['replaceAll'] === true && whole !== null && old !== null ? whole.split(old).length - 1 : 1;
}
