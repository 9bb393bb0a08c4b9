import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { explainSystemError } from '../../base/system-error.ts';
import type { ReportSpecProblem, SpecProblem } from '../check/spec-problem.ts';
import { SpecError } from '../check/spec-problem.ts';
import { type EdnMap, readEdnMaps } from '../edn/edn-peripherals.ts';
import { readYaml } from '../load/read-yaml.ts';
import { type SourceDocument, specProblemReporter } from '../load/source-document.ts';
import { describeSimilarName } from '../names.ts';
import { type PartiallyParsed, parseValidParts } from '../schema/parse-partial.ts';
import type { Fields, Json } from '../types.ts';
import { AgencyAgentFile, AgencyPeripheralFile } from './agency-file.ts';
import type { AgencyAgent, AgencyPeripheral, AgencySpec, DriverKind } from './agency-types.ts';
import { compileAnswerCheck } from './answer-check.ts';
import { findPlaceholders, hasHopgateHeading } from './prompt-template.ts';

/**
 * Loads an agency folder: `peripherals.edn` or `peripherals.yaml`, and `agents.edn` or `agents.yaml`. Either may be
 * missing. Paths in it are relative to the folder.
 * @param options.checkFiles also reports each file and folder of an agent that is missing or cannot be read; without
 *   it, only a run of this agent fails
 * @throws SpecError with every problem of both files
 */
export function loadAgency(folder: string, { checkFiles = false } = {}): AgencySpec {
  const problems: SpecProblem[] = [];
  const peripherals: { [id: string]: AgencyPeripheral } = {};
  for (const { id, document, report } of formsOf(folder, 'peripherals', problems)) {
    const file = parseValidParts(AgencyPeripheralFile, withId(document.value, id), report);
    const made = file && peripheralOf(file, report);
    if (made && Object.hasOwn(peripherals, made.id)) report(['id'], `"${made.id}" is given twice`, 'keep one of them');
    if (made) peripherals[made.id] = made;
  }
  const agents: { [id: string]: AgencyAgent } = {};
  for (const { id, document, report } of formsOf(folder, 'agents', problems)) {
    const file = parseValidParts(AgencyAgentFile, document.value, report);
    if (!/^[a-z][a-z0-9-]*$/.test(id ?? '')) report([], `"${id}" is not a name`, 'use a-z, 0-9 and -');
    const made = file && agentOf(id ?? '', file, (path) => resolve(folder, path), report);
    if (checkFiles && made) checkAgentFiles(made, report);
    if (made) agents[made.id] = made;
  }
  if (problems.length > 0) throw new SpecError(problems);
  return { peripherals, agents };
}

interface Form {
  readonly id: string | null;
  readonly document: SourceDocument;
  readonly report: ReportSpecProblem;
}

/** Reads the entries of one of the two files. `id` is the key of an entry; null if the file has no keys. */
function formsOf(folder: string, name: 'peripherals' | 'agents', problems: SpecProblem[]): readonly Form[] {
  const edn = join(folder, `${name}.edn`);
  const yaml = join(folder, `${name}.yaml`);
  const form = ({ id, document }: EdnMap): Form => ({
    id,
    document,
    report: specProblemReporter(document, [name, id ?? idIn(document.value) ?? '?'], problems),
  });
  if (existsSync(edn)) {
    const read = readEdnMaps({ file: edn, text: readFileSync(edn, 'utf8') }, name);
    problems.push(...read.problems);
    return read.forms.map(form);
  }
  if (!existsSync(yaml)) return [];
  const { document, problems: found } = readYaml({ file: yaml, text: readFileSync(yaml, 'utf8') });
  problems.push(...found.map((problem) => ({ ...problem, path: name })));
  if (found.length > 0 || document.value === null || document.value === undefined) return [];
  const entries = Object.entries(document.value as { [key: string]: unknown });
  return entries.map(([id, value]) =>
    form({ id, document: { ...document, value, lineOf: (path) => document.lineOf([id, ...path]) } }),
  );
}

const idIn = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && 'id' in value ? String(value.id) : null;

const withId = (value: unknown, id: string | null): unknown =>
  id === null || typeof value !== 'object' || value === null ? value : { id, ...value };

function peripheralOf(file: PartiallyParsed<AgencyPeripheralFile>, report: ReportSpecProblem): AgencyPeripheral | null {
  const { id, entry, inputs = [], response, tools = {}, context = [], retries = 0 } = file;
  const template = file['prompt-template'];
  if (id === undefined || entry === undefined || template === undefined || response?.type === undefined) return null;
  inputs.forEach((input, at) => {
    if (inputs.indexOf(input) !== at) report(['inputs', at], `"${input}" is listed twice`, 'keep one of them');
  });
  for (const name of findPlaceholders(template))
    if (!inputs.includes(name))
      report(
        ['prompt-template'],
        `{{${name}}} is not an input`,
        describeSimilarName(name, inputs as readonly string[]),
      );
  if (hasHopgateHeading(template))
    report(
      ['prompt-template'],
      'a line begins with "User request" or "Context:"',
      'hopgate writes these blocks itself',
    );
  if (response.type === 'json') checkSchema(response.schema, report);
  else if (response.schema !== undefined)
    report(['response', 'schema'], 'an answer of type text has no schema', 'write type: json');
  const { fs = false, shell = false, http = false } = tools as { [key: string]: boolean | undefined };
  return {
    id,
    entry,
    inputs,
    promptTemplate: template,
    tools: { fs, shell, http },
    response:
      response.type === 'text'
        ? { type: 'text' }
        : { type: 'json', schema: (response.schema ?? {}) as { [keyword: string]: Json } },
    context,
    timeoutMs: file['timeout-ms'] ?? null,
    retries,
  };
}

function checkSchema(schema: unknown, report: ReportSpecProblem): void {
  if (schema === undefined) return report(['response'], '"schema" is missing', 'a JSON Schema of the answer');
  try {
    compileAnswerCheck(schema as Fields);
  } catch (error) {
    report(['response', 'schema'], `is not a JSON Schema: ${(error as Error).message}`);
  }
}

/** The name of a node without a name in the registry: the host of its address. */
export const nodeNameOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

/** The driver implied by an agent's name that ends with `claude` or `codex`; null for other names. */
function driverByName(id: string): DriverKind | null {
  if (id.endsWith('claude')) return 'claude-code';
  return id.endsWith('codex') ? 'codex' : null;
}

function checkAgentFiles(agent: AgencyAgent, report: ReportSpecProblem): void {
  const { tokenFile, cwd, module } = { tokenFile: null, cwd: null, module: null, ...agent };
  const check = (key: string, path: string | null, read: (path: string) => unknown, remedy: string): void => {
    try {
      if (path !== null && read(path) === '') report([key], `${path} is empty`, remedy);
    } catch (error) {
      report(
        [key],
        explainSystemError(Object.assign(error as Error, { path }))?.message ?? (error as Error).message,
        remedy,
      );
    }
  };
  check('token-file', tokenFile, (path) => readFileSync(path, 'utf8').trim(), WRITE_TOKEN);
  check('cwd', cwd, readdirSync, 'name an existing folder');
  check('module', module, (path) => readFileSync(path, 'utf8'), 'name an existing file');
}

const WRITE_TOKEN = 'write the token to it; "hopgate agency token NAME" prints it on the other machine';

function agentOf(
  id: string,
  file: PartiallyParsed<AgencyAgentFile>,
  pathOf: (path: string) => string,
  report: ReportSpecProblem,
): AgencyAgent | null {
  const { location, url = null, node } = file;
  const tokenFile = file['token-file'] === undefined ? null : pathOf(file['token-file']);
  if (location === undefined) return null;
  if (location === 'remote') {
    if (url === null) report([], '"url" is missing', 'the address of the other node');
    return url === null ? null : { id, location, url, tokenFile, node: node ?? nodeNameOf(url) };
  }
  if (location === 'dial-in') {
    if (node === undefined) report([], '"node" is missing', 'the name under which the other node connects');
    return node === undefined ? null : { id, location, node };
  }
  const driver = file.driver ?? driverByName(id);
  if (driver === null) {
    report(
      [],
      '"driver" is missing',
      `one of ${describeSimilarName('', ['scripted', 'http', 'ai-sdk', 'claude-code', 'codex'])}`,
    );
    return null;
  }
  if (driver === 'http' && url === null) report([], '"url" is missing', 'set url: to the address of the agent');
  if (driver === 'ai-sdk' && file.module === undefined)
    report([], '"module" is missing', 'set module: to a module whose default export is a model');
  if (driver === 'scripted' && file.replies === undefined)
    report([], '"replies" is missing', 'set replies: to a list of answers');
  return {
    id,
    location,
    driver,
    program: file.program ?? null,
    cwd: file.cwd === undefined ? null : pathOf(file.cwd),
    model: file.model ?? null,
    module: file.module === undefined ? null : pathOf(file.module),
    url,
    tokenFile,
    honours: file.honours ?? [],
    replies: file.replies ?? [],
  };
}
