import { setOwnField } from '../../base/json.ts';
import type { EdnNode, EdnProblem } from './edn-node.ts';

/** An EDN form as the plain data that YAML would give, with the line of each value. */
interface PlainEdn {
  readonly value: unknown;
  readonly problems: readonly EdnProblem[];
  /** The line of each value, by the value's path joined with NUL. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Converts a form: keywords become names; sets, lists and vectors arrays. `strip` shortens the outer keys. */
export function ednToPlain(root: EdnNode, strip: (key: string) => string = (key) => key): PlainEdn {
  const problems: EdnProblem[] = [];
  const lines = new Map<string, number>();
  const report = ({ line, column }: EdnNode, message: string) => problems.push({ line, column, message });

  const walk = (node: EdnNode, path: readonly (string | number)[]): unknown => {
    lines.set(path.join('\0'), node.line);
    switch (node.kind) {
      case 'map': {
        const plain: { [key: string]: unknown } = {};
        for (const [key, item] of node.entries) {
          const name = key.kind === 'keyword' || key.kind === 'string' ? key.text : null;
          if (name === null) {
            report(key, 'a key must be a keyword, like :id');
            continue;
          }
          const short = path.length === 0 ? strip(name) : name;
          if (Object.hasOwn(plain, short)) report(key, `:${short} is given twice`);
          setOwnField(plain, short, walk(item, [...path, short]));
        }
        return plain;
      }
      case 'set':
      case 'list':
      case 'vector':
        return node.items.map((item, index) => walk(item, [...path, index]));
      case 'keyword':
      case 'string':
        return node.text;
      case 'boolean':
        return node.value;
      case 'nil':
        return null;
      case 'number':
        if (typeof node.value === 'number' && Number.isFinite(node.value)) return node.value;
        report(node, 'the number is too large');
        return undefined;
      case 'symbol':
        report(node, `${node.text} is a symbol; write :${node.text}`);
        return node.text;
      case 'char':
      case 'tagged':
        report(node, `a ${node.kind} form has no meaning in a spec`);
        return undefined;
    }
  };

  return { value: walk(root, []), problems, lines };
}
