import { expect, it } from 'vitest';
import { narrowConfig } from '../../src/project/narrow-config.ts';
import { DEFAULT_MASKS } from '../../src/spec/policy/default-masks.ts';
import { parseProjectConfig } from '../../src/spec/resolve/parse-project-config.ts';
import { fixtureSpecs } from '../fixture-specs.ts';

it('of a file that nobody accepted masks are added, and exceptions are left out', async () => {
  const specs = fixtureSpecs;
  const narrowed = (text: string) => {
    const parsed = parseProjectConfig(text);
    return parsed.ok ? narrowConfig(parsed.config, specs) : null;
  };
  expect(narrowed('mask: ["!**"]')).toMatchObject({ ignored: ['mask'], config: { mask: DEFAULT_MASKS } });
  expect(narrowed('mask: [a, "!a", "!.env"]')).toMatchObject({
    ignored: ['mask'],
    config: { mask: [...DEFAULT_MASKS, 'a'] },
  });
  expect(narrowed('mask: [default, b]')).toMatchObject({ ignored: [], config: { mask: [...DEFAULT_MASKS, 'b'] } });
  expect(narrowed('imports: [.env]')).toEqual({ ignored: ['imports'], config: narrowed('{}')?.config });
  expect(narrowed('{}')).toMatchObject({ ignored: [], config: { mask: DEFAULT_MASKS } });
});
