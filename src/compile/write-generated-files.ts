import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolders, writeNamedFile } from '../base/files.ts';
import { GENERATED_HEADER, type GeneratedFiles } from './generate-files.ts';

/** The files in which a folder differs from the generated files; all lists are empty if it is up to date. */
interface GeneratedDifference {
  readonly missing: readonly string[];
  /** Files that exist with other content. */
  readonly stale: readonly string[];
  /** Files of a machine that no longer exists. */
  readonly extra: readonly string[];
}

const KINDS = ['.machine.ts', '.json', '.mmd'];

/**
 * Writes generated files into a folder, and removes the files of machines that no longer exist. Leaves other files
 * alone.
 * @returns the names of the files that were written or removed
 */
export async function writeGeneratedFiles(outDir: string, files: GeneratedFiles): Promise<readonly string[]> {
  const { missing, stale, extra } = await compareGeneratedFiles(outDir, files);
  makeFolders(outDir);
  for (const name of [...missing, ...stale]) writeNamedFile(join(outDir, name), files[name] ?? '');
  for (const name of extra) await rm(join(outDir, name));
  return [...missing, ...stale, ...extra].sort();
}

/** Compares a folder with the generated files. Read-only; a missing folder lacks all files. */
export async function compareGeneratedFiles(outDir: string, files: GeneratedFiles): Promise<GeneratedDifference> {
  const found = new Set(await listOrNone(outDir));
  const names = Object.keys(files).sort();
  const stale: string[] = [];
  for (const name of names.filter((each) => found.has(each))) {
    if ((await readFile(join(outDir, name), 'utf8')) !== files[name]) stale.push(name);
  }
  return {
    missing: names.filter((name) => !found.has(name)),
    stale,
    extra: await leftoverFiles(outDir, [...found].sort(), files),
  };
}

/** Generated files (their `.machine.ts` says so) of machines that no longer exist. */
async function leftoverFiles(
  outDir: string,
  found: readonly string[],
  files: GeneratedFiles,
): Promise<readonly string[]> {
  const extra: string[] = [];
  for (const name of found.filter((each) => each.endsWith('.machine.ts') && !Object.hasOwn(files, each))) {
    if (!(await readFile(join(outDir, name), 'utf8')).startsWith(GENERATED_HEADER)) continue;
    const machine = name.slice(0, -'.machine.ts'.length);
    extra.push(...KINDS.map((kind) => machine + kind).filter((each) => found.includes(each)));
  }
  return extra.sort();
}

async function listOrNone(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
