import { describe, expect, it } from 'vitest';
import { upstreamToolNames } from '../../../src/adapters/mcp/upstream-names.ts';
import type { SpecSet, ToolSpec } from '../../../src/spec/types.ts';

const bound = (id: string, tool: string): ToolSpec => ({
  id,
  purpose: id,
  effect: 'observe',
  parameters: [],
  limits: { seconds: 1, outputBytes: 1 },
  upstream: { server: 'files', tool, schemaHash: null, folders: 'names' },
});
const { upstream: _, ...own } = bound('read', '');
const specsOf = (...tools: ToolSpec[]) =>
  ({ tools: Object.fromEntries(tools.map((tool) => [tool.id, tool])) }) as SpecSet;

describe('upstream tool names', () => {
  it('are used in lists and calls, and ids are accepted as well', () => {
    const { nameOf, idOf } = upstreamToolNames(specsOf(own, bound('files-read', 'read_text_file')));
    expect(nameOf('files-read')).toBe('read_text_file');
    expect(idOf('read_text_file')).toBe('files-read');
    expect(idOf('files-read')).toBe('files-read');
    expect([nameOf('read'), idOf('read'), idOf('unheard-of')]).toEqual(['read', 'read', 'unheard-of']);
  });

  it.each([
    ['a tool of hopgate', [own, bound('files-read', 'read')]],
    ['a control of hopgate', [bound('files-hop', 'hop')]],
    ['a tool of another server', [bound('a-read', 'x_read'), bound('b-read', 'x_read')]],
  ])('are not used if they are also the name of %s', (_why, tools) => {
    const { nameOf, idOf } = upstreamToolNames(specsOf(...tools));
    for (const { id } of tools) expect([nameOf(id), idOf(id)]).toEqual([id, id]);
  });
});
