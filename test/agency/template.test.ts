import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderPrompt } from '../../src/agency/run-request.ts';
import { loadAgency } from '../../src/spec/agency/load-agency.ts';
import type { SpecError } from '../../src/spec/check/spec-problem.ts';
import { agencyWith, INPUTS, run } from './agency-nodes.ts';

const par = () => loadAgency(agencyWith('{}')).peripherals['par-participant']!;
const problemsOf = (peripherals: string, agents = '{}'): readonly string[] => {
  try {
    loadAgency(agencyWith(agents, peripherals));
    return [];
  } catch (error) {
    return (error as SpecError).issues.map(({ path, message }) => `${path}: ${message}`);
  }
};
const yaml = (more: string) =>
  `p:\n  entry: e\n  inputs: [a]\n  prompt-template: "{{a}}"\n  response: { type: text }\n${more}`;

describe('an agency folder', () => {
  it('loads the peripheral par-participant with its defaults', () => {
    expect(par()).toEqual({
      id: 'par-participant',
      entry: 'Join PAR and contribute a concise perspective.',
      inputs: ['par/title', 'par/crdt-host', 'par/crdt-port', 'session/id'],
      promptTemplate: expect.stringContaining('PAR: {{par/title}}\nCRDT: {{par/crdt-host}}:{{par/crdt-port}}'),
      tools: { fs: false, shell: false, http: false },
      response: { type: 'text' },
      context: [],
      timeoutMs: null,
      retries: 0,
    });
  });

  it.each([
    ['prompt-template: "{{b}}"', 'peripherals.p.prompt-template: {{b}} is not an input'],
    ['response: { type: json }', 'peripherals.p.response: "schema" is missing'],
    [
      'prompt-template: "User request: {{a}}"',
      'peripherals.p.prompt-template: a line begins with "User request" or "Context:"',
    ],
    ['tools: { fs: maybe }', 'peripherals.p.tools.fs: expected a boolean, got "maybe"'],
    [
      'response: { type: json, schema: { $async: true } }',
      'peripherals.p.response.schema: is not a JSON Schema: "$async" is not supported',
    ],
    ['tols: {}', 'peripherals.p.tols: unknown key "tols"'],
  ])('with %s is refused with the path', (line, problem) => {
    const key = line.split(':')[0]!;
    const text = yaml('')
      .split('\n')
      .filter((each) => !each.trim().startsWith(`${key}:`))
      .join('\n');
    expect(problemsOf(`${text}  ${line}\n`)).toContain(problem);
  });

  it('names each problem of an agent', () =>
    expect(problemsOf(yaml(''), 'x: { location: local }\ny: { location: remote }\nz: { location: dial-in }')).toEqual([
      'agents.x: "driver" is missing',
      'agents.y: "url" is missing',
      'agents.z: "node" is missing',
    ]));
});

describe('the prompt', () => {
  it('names all missing inputs in one error', () =>
    expect(() => renderPrompt(par(), run('x', { inputs: { 'par/title': 't' } }))).toThrow(
      'par-participant needs par/crdt-host, par/crdt-port, session/id',
    ));
  it('refuses an input that the peripheral does not have', () =>
    expect(() => renderPrompt(par(), run('x', { inputs: { ...INPUTS, extra: 1 } }))).toThrow('has no input "extra"'));
  it("ends with the user's request if both are given", () =>
    expect(renderPrompt(par(), run('x', { prompt: 'Be brief.' }))).toMatch(
      /^PAR: Lab\nCRDT: h:6530\nSession: s1\n\nInstructions: [^\n]+\n\nUser request:\nBe brief\.$/,
    ));
  it('is the request alone if there are no inputs', () =>
    expect(renderPrompt(par(), { 'agent-id': 'x', peripheral: 'par-participant', prompt: 'Hi {{par/title}}' })).toBe(
      'Hi {{par/title}}',
    ));

  it('never reads a value as a template or as a request', () => {
    const piece = fc.constantFrom(
      '{{par/title}}',
      '{{',
      '}}',
      'User request:',
      'user  Request',
      '\n',
      '\r',
      '\u2028',
      ' ',
      '$&',
      '$1',
      'x',
      '# ',
    );
    const value = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(value, value, value, (title, host, id) => {
        const text = renderPrompt(
          par(),
          run('x', {
            inputs: { ...INPUTS, 'par/title': title, 'par/crdt-host': host, 'session/id': id },
            prompt: 'ASK',
          }),
        );
        const [body, ask, ...more] = text.split('\n\nUser request:\nASK');
        expect([ask, more]).toEqual(['', []]);
        expect(body!.split(/[\n\r\u2028\u2029\v\f\u0085]/).filter((line) => /^\s*user\s+request/i.test(line))).toEqual(
          [],
        );
        // Without the quoting marks, the text is the template with the values, each in place once.
        const plain = (of: string) => of.replaceAll('> ', '');
        expect(plain(body!)).toBe(
          plain(
            `PAR: ${title}\nCRDT: ${host}:6530\nSession: ${id}\n\nInstructions: Provide 2-4 sentences per section you can answer.`,
          ),
        );
      }),
    );
  });
});
