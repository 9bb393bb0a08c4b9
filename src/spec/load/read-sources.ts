import type { z } from 'zod';
import { fieldsOf } from '../../base/json.ts';
import type { ReportSpecProblem, SpecProblem } from '../check/spec-problem.ts';
import { readEdnPeripherals } from '../edn/edn-peripherals.ts';
import { ConditionsFile } from '../schema/conditions-file.ts';
import { GateFile } from '../schema/gate-file.ts';
import { type PartiallyParsed, parseValidParts } from '../schema/parse-partial.ts';
import { PeripheralFile } from '../schema/peripheral-file.ts';
import { PropertiesFile } from '../schema/properties-file.ts';
import { ScopesFile } from '../schema/scopes-file.ts';
import { ToolsFile } from '../schema/tools-file.ts';
import { readYaml } from './read-yaml.ts';
import { type SourceDocument, type SpecSource, specProblemReporter } from './source-document.ts';

type SpecFileKind = 'gate' | 'tools' | 'scopes' | 'conditions' | 'properties' | 'peripheral' | 'edn';

function kindOfFile(file: string): SpecFileKind | null {
  const name = baseName(file);
  if (name.endsWith('.edn')) return 'edn';
  if (!name.endsWith('.yaml')) return null;
  const stem = name.slice(0, -'.yaml'.length);
  const named = (['gate', 'tools', 'scopes', 'conditions', 'properties'] as const).find((kind) => kind === stem);
  return named ?? 'peripheral';
}

/** The file's name without its ending: `edit` of `specs/peripherals/edit.yaml`. */
const stemOf = (file: string): string => baseName(file).replace(/\.[^.]*$/, '');

const baseName = (file: string): string => file.split(/[/\\]/).at(-1)!;

/** One authored file: the valid part of its content, its raw content, and the function that reports its problems. */
interface Draft<T> {
  readonly file: PartiallyParsed<T> | undefined;
  readonly raw: { readonly [key: string]: unknown };
  readonly report: ReportSpecProblem;
}

export interface PeripheralDraft extends Draft<PeripheralFile> {
  readonly id: string;
  /** The name of its file, or its key in the map. If it differs from `id`, a problem is reported. */
  readonly alias: string;
}

/** The authored files of a spec set, read and checked one by one. */
export interface SpecDrafts {
  readonly gate: Draft<GateFile> | null;
  readonly tools: readonly Draft<ToolsFile>[];
  readonly scopes: readonly Draft<ScopesFile>[];
  readonly conditions: Draft<ConditionsFile> | null;
  readonly properties: Draft<PropertiesFile> | null;
  readonly peripherals: readonly PeripheralDraft[];
}

/** Reads every source; problems go into `problems`, valid parts into the drafts. */
export function parseSpecSources(sources: readonly SpecSource[], problems: SpecProblem[]): SpecDrafts {
  const drafts = {
    gate: null as Draft<GateFile> | null,
    tools: [] as Draft<ToolsFile>[],
    scopes: [] as Draft<ScopesFile>[],
    conditions: null as Draft<ConditionsFile> | null,
    properties: null as Draft<PropertiesFile> | null,
    peripherals: [] as PeripheralDraft[],
  };
  for (const source of sources) {
    const kind = kindOfFile(source.file);
    if (kind === 'edn') {
      const { documents, problems: found } = readEdnPeripherals(source);
      problems.push(...found);
      drafts.peripherals.push(...documents.map((document) => peripheralDraft(document, null, problems)));
      continue;
    }
    const { document, problems: found } = readYaml(source);
    if (found.length > 0) {
      const prefix = kind === 'peripheral' ? `peripherals.${stemOf(source.file)}` : (kind ?? '');
      problems.push(...found.map((problem) => ({ ...problem, path: prefix })));
    }
    if (kind === 'gate') drafts.gate = draft(GateFile, document, ['gate'], found.length > 0, problems);
    else if (kind === 'tools') drafts.tools.push(draft(ToolsFile, document, [], found.length > 0, problems));
    else if (kind === 'scopes') drafts.scopes.push(draft(ScopesFile, document, [], found.length > 0, problems));
    else if (kind === 'conditions') drafts.conditions = draft(ConditionsFile, document, [], found.length > 0, problems);
    else if (kind === 'properties') drafts.properties = draft(PropertiesFile, document, [], found.length > 0, problems);
    else if (found.length > 0) {
      const id = stemOf(source.file);
      const report = specProblemReporter(document, ['peripherals', id], problems);
      drafts.peripherals.push({ id, alias: id, file: undefined, raw: {}, report });
    } else drafts.peripherals.push(peripheralDraft(document, stemOf(source.file), problems));
  }
  return drafts;
}

function draft<S extends z.ZodType>(
  schema: S,
  document: SourceDocument,
  prefix: readonly string[],
  unreadable: boolean,
  problems: SpecProblem[],
): Draft<z.output<S>> {
  const report = specProblemReporter(document, prefix, problems);
  const file = unreadable ? undefined : parseValidParts(schema, document.value, report);
  return { file, raw: fieldsOf(document.value), report };
}

function peripheralDraft(document: SourceDocument, stem: string | null, problems: SpecProblem[]): PeripheralDraft {
  const raw = fieldsOf(document.value);
  const id = typeof raw['id'] === 'string' ? raw['id'] : (stem ?? '?');
  const made = draft(PeripheralFile, document, ['peripherals', id], false, problems);
  if (stem !== null && id !== stem) made.report(['id'], `"${id}" is in ${stem}.yaml`, `rename the file to ${id}.yaml`);
  return { ...made, id, alias: stem ?? id };
}
