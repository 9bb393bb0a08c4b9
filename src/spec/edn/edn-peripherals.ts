import type { SpecProblem } from '../check/spec-problem.ts';
import type { SourceDocument, SpecSource } from '../load/source-document.ts';
import { FRUIT_OF_EDN_PERIPHERALS, PURPOSE_OF_EDN_PERIPHERALS } from './edn-fruit.ts';
import type { EdnNode, EdnProblem } from './edn-node.ts';
import { ednToPlain } from './edn-to-plain.ts';
import { parseEdn } from './read-edn.ts';

export interface EdnMap {
  readonly id: string | null;
  readonly document: SourceDocument;
}

/** Reads the maps of an EDN file: the values of a map, the members of a collection, or a single map with an `:id`. */
export function readEdnMaps(
  { file, text }: SpecSource,
  path: string,
): { forms: readonly EdnMap[]; problems: SpecProblem[] } {
  const problems: SpecProblem[] = [];
  const report = ({ line, column, message }: EdnProblem): void => {
    problems.push({ file, path, line, message: `column ${column}: ${message}`, suggestion: null });
  };
  const read = parseEdn(text);
  if (!read.ok) {
    read.problems.forEach(report);
    return { forms: [], problems };
  }
  const forms = peripheralForms(read.node, report).map(({ id, node }) => {
    const { value, problems, lines } = ednToPlain(node, (key) => key.replace(/^peripheral\//, ''));
    problems.forEach(report);
    const lineOf: SourceDocument['lineOf'] = (at) => {
      for (let length = at.length; length > 0; length--) {
        const line = lines.get(at.slice(0, length).join('\0'));
        if (line !== undefined) return line;
      }
      return node.line;
    };
    return { id, document: { file, value, lineOf } };
  });
  return { forms, problems };
}

/**
 * Reads the peripherals of an EDN file in any known dialect: `{:peripherals {…}}`, a bare map or a collection of
 * peripherals, or one peripheral; keys as `:peripheral/id` or `:id`. Returns each in the form of a
 * `peripherals/<id>.yaml`.
 */
export function readEdnPeripherals(source: SpecSource): { documents: SourceDocument[]; problems: SpecProblem[] } {
  const { forms, problems } = readEdnMaps(source, 'peripherals');
  const documents = forms.map(({ id, document }) => {
    const form = document.value as { [key: string]: unknown };
    if (id !== null && form['id'] !== undefined && form['id'] !== id) {
      const message = `"${String(form['id'])}" is under the key :${id}`;
      const suggestion = `write :id :${id}, or leave it out`;
      const line = document.lineOf(['id']);
      problems.push({
        file: source.file,
        path: `peripherals.${id}.id`,
        ...(line === undefined ? {} : { line }),
        message,
        suggestion,
      });
    }
    return { ...document, value: completeForm(form, id) };
  });
  return { documents, problems };
}

interface PeripheralForm {
  /** The peripheral's key in the map; null if the file has no keys. */
  readonly id: string | null;
  readonly node: EdnNode;
}

function peripheralForms(root: EdnNode, report: (problem: EdnProblem) => void): PeripheralForm[] {
  const wrong = (node: EdnNode, message: string): PeripheralForm[] => {
    report({ line: node.line, column: node.column, message });
    return [];
  };
  if (root.kind === 'vector' || root.kind === 'list' || root.kind === 'set') {
    return root.items.flatMap((node) =>
      node.kind === 'map' ? [{ id: null, node }] : wrong(node, 'expected a map that describes one peripheral'),
    );
  }
  if (root.kind !== 'map') return wrong(root, 'expected a map of peripherals');
  if (root.entries.some(([key]) => isKeyword(key, 'id') || isKeyword(key, 'peripheral/id')))
    return [{ id: null, node: root }];
  const inner = root.entries.find(([key]) => isKeyword(key, 'peripherals'));
  if (inner) {
    for (const [key] of root.entries) if (key !== inner[0]) wrong(key, 'only :peripherals is allowed here');
    return peripheralForms(inner[1], report);
  }
  return root.entries.flatMap(([key, node]) => {
    if (key.kind !== 'keyword') return wrong(key, "expected a peripheral's name, like :edit");
    return node.kind === 'map' ? [{ id: key.text, node }] : wrong(node, `expected the map of peripheral :${key.text}`);
  });
}

const isKeyword = (node: EdnNode, text: string): boolean => node.kind === 'keyword' && node.text === text;

/** Adds the parts that EDN omits: the id, from the key, and fruit and purpose of the five original peripherals. */
function completeForm(value: { [key: string]: unknown }, key: string | null): { [key: string]: unknown } {
  const id = key ?? value['id'];
  const name = typeof id === 'string' ? id : '';
  const fruit = Object.hasOwn(FRUIT_OF_EDN_PERIPHERALS, name) ? { fruit: FRUIT_OF_EDN_PERIPHERALS[name] } : {};
  const purpose = Object.hasOwn(PURPOSE_OF_EDN_PERIPHERALS, name)
    ? PURPOSE_OF_EDN_PERIPHERALS[name]
    : `Work in ${name || 'it'}.`;
  return { purpose, ...fruit, exit: [], ...value, ...(id === undefined ? {} : { id }) };
}
