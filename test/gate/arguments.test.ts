import { describe, expect, it } from 'vitest';
import { bindCallArguments } from '../../src/gate/bind-arguments.ts';
import type { ArgumentRole, Json } from '../../src/spec/types.ts';
import { fixtureSpecs } from './views.ts';

const bind = (tool: string, given: unknown) => bindCallArguments(fixtureSpecs.tools[tool]!, given);

describe('the arguments of a call', () => {
  it.each<[string, string, unknown, { [name: string]: Json }]>([
    ['an object', 'read', { path: 'a', limit: 3 }, { path: 'a', limit: 3 }],
    ['a list in order', 'grep', ['x', 'src'], { pattern: 'x', path: 'src' }],
    ['a list with a gap', 'grep', ['x', null, '*.ts'], { pattern: 'x', glob: '*.ts' }],
    ['missing, where all parameters are optional', 'musn-log', undefined, {}],
    ['an empty list', 'bash-test', [], {}],
    ['an object with null for an optional parameter', 'read', { path: 'a', offset: null }, { path: 'a' }],
    [
      'an object with one of several allowed types',
      'bash-test',
      { command: ['npm', 'test'] },
      { command: ['npm', 'test'] },
    ],
    ['a list with another of several allowed types', 'bash-test', ['npm test'], { command: 'npm test' }],
  ])('are accepted if they are %s', (_name, tool, given, args) => {
    expect(bind(tool, given)).toEqual({ ok: true, args });
  });

  it.each<[string, 'text' | 'path:read', object, unknown]>([
    ['a text that may be null', 'text', { type: ['string', 'null'] }, { ok: true, args: { v: null } }],
    ['a text that may be anything', 'text', {}, { ok: true, args: { v: null } }],
    ['a text of which null is one', 'text', { enum: ['a', null] }, { ok: true, args: { v: null } }],
    ['a text that may not be null', 'text', { type: 'string' }, { ok: true, args: {} }],
    ['a path, which has to lie somewhere', 'path:read', { type: ['string', 'null'] }, { ok: true, args: {} }],
  ])('keep null exactly if the parameter may be null: %s', (_name, role, schema, bound) => {
    const parameter = { name: 'v', role, schema, required: false, description: '' };
    const tool = { ...fixtureSpecs.tools['read']!, parameters: [parameter as never] };
    expect(bindCallArguments(tool, { v: null })).toEqual(bound);
    expect(bindCallArguments(tool, [null])).toEqual({ ok: true, args: {} });
  });

  it.each<[object, Json, string]>([
    [{ type: 'string', enum: ['north', 'south'] }, 'east', ': ["north","south"]'],
    [{ const: 4 }, 5, ': 4'],
    [{ type: 'object', additionalProperties: false }, { colour: 'red' }, ': "colour"'],
  ])('are refused by the schema %j with the allowed values or the unknown key', (schema, value, end) => {
    const parameter = { name: 'v', role: 'text', schema, required: true, description: '' };
    const tool = { ...fixtureSpecs.tools['read']!, parameters: [parameter as never] };
    const bound = bindCallArguments(tool, { v: value });
    expect(bound.ok ? '' : bound.problem.slice(-end.length)).toBe(end);
  });

  it.each<[ArgumentRole, unknown, Json | undefined, Json | undefined]>([
    ['resource', undefined, 'db:live/users', 'db:live/users'],
    ['url', null, 'file:///etc/passwd', 'file:///etc/passwd'],
    ['url', 'https://a.org', 'file:///etc/passwd', 'https://a.org'],
    ['path:read', [], '/etc', '/etc'],
    ['path:read', [], undefined, undefined],
    ['path:read', undefined, [], undefined],
    ['path:write', [], undefined, []],
    ['text', undefined, 10, 10],
    ['text', undefined, null, undefined],
    ['path:read', undefined, null, undefined],
  ])(
    'of the type %s given as %j with the default %j are judged and passed on as %j',
    (role, given, byDefault, bound) => {
      const schema: { [keyword: string]: Json } = byDefault === undefined ? {} : { default: byDefault };
      const tool = {
        ...fixtureSpecs.tools['read']!,
        parameters: [{ name: 'v', role, schema, required: false, description: '' }],
      };
      const args = bound === undefined ? {} : { v: bound };
      expect(bindCallArguments(tool, { v: given })).toEqual({ ok: true, args });
    },
  );

  it.each<[string, string, unknown, string | null, string]>([
    [
      'an unknown name',
      'read',
      { path: 'a', file: 'b' },
      'file',
      'there is no parameter "file" (read has: path, offset, limit)',
    ],
    [
      'a name that every object inherits',
      'read',
      JSON.parse('{"path":"a","__proto__":1}'),
      '__proto__',
      'there is no parameter "__proto__" (read has: path, offset, limit)',
    ],
    ['one value too many', 'read', ['a', 1, 2, 3], null, '4 arguments are given, and read has 3 parameters'],
    ['no value for a required parameter', 'edit', { path: 'a', old: 'b' }, 'new', '"new" is missing'],
    ['null for a required parameter', 'read', { path: null }, 'path', '"path" is missing'],
    ['a wrong type', 'read', { path: 7 }, 'path', '"path" must be string'],
    ['a value below its least', 'read', { path: 'a', limit: 0 }, 'limit', '"limit" must be >= 1'],
    ['a fraction as a line number', 'read', ['a', 1.5], 'offset', '"offset" must be integer'],
    ['a wrong type inside of a list', 'bash-test', { command: ['npm', 7] }, 'command', '"command"'],
    [
      'a text',
      'read',
      'a',
      null,
      'args must be an object with parameter names as keys, or a list in the order of the parameters',
    ],
    [
      'a number',
      'read',
      7,
      null,
      'args must be an object with parameter names as keys, or a list in the order of the parameters',
    ],
  ])('are refused if they are or contain %s', (_name, tool, given, argument, problem) => {
    const bound = bind(tool, given);
    expect(bound).toMatchObject({ ok: false, argument });
    expect(!bound.ok && bound.problem).toContain(problem);
  });
});
