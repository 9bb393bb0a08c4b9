/** One EDN form with the position where it begins (line and column count from 1). */
export type EdnNode = { readonly line: number; readonly column: number } & (
  | { readonly kind: 'map'; readonly entries: readonly (readonly [EdnNode, EdnNode])[] }
  | { readonly kind: 'set' | 'list' | 'vector'; readonly items: readonly EdnNode[] }
  | { readonly kind: 'keyword' | 'symbol' | 'string' | 'char'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number | bigint }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'nil' }
  | { readonly kind: 'tagged'; readonly tag: string; readonly form: EdnNode }
);

/** The reason why a text is not EDN, or has no meaning in a spec, and its position. */
export interface EdnProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Returns equal texts for forms that are equal in Clojure: a list equals a vector; maps and sets have no order. */
export function ednIdentityOf(node: EdnNode): string {
  switch (node.kind) {
    case 'map': {
      const pairs = node.entries.map(([key, value]) => `${ednIdentityOf(key)} ${ednIdentityOf(value)}`);
      return `{${pairs.sort().join(', ')}}`;
    }
    case 'set':
      return `#{${node.items.map(ednIdentityOf).sort().join(', ')}}`;
    case 'list':
    case 'vector':
      return `[${node.items.map(ednIdentityOf).join(', ')}]`;
    case 'keyword':
      return `:${node.text}`;
    case 'string':
      return JSON.stringify(node.text);
    case 'char':
      return `\\${JSON.stringify(node.text)}`;
    case 'symbol':
      return node.text;
    case 'number':
      return `${node.value}${typeof node.value === 'bigint' ? 'N' : ''}`;
    case 'boolean':
      return String(node.value);
    case 'nil':
      return 'nil';
    case 'tagged':
      return `#${node.tag} ${ednIdentityOf(node.form)}`;
  }
}
