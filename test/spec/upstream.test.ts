import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { printSpecs } from '../../src/audit/infer/print-specs.ts';
import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { parseProjectConfig } from '../../src/spec/resolve/parse-project-config.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';

const catalogue = await loadBuiltInCatalogue();
const WORK = {
  file: 'peripherals/work.yaml',
  text: 'id: work\npurpose: Works.\ntools: [far]\nscope: full-codebase\nentry: default\nexit: { done: work }\n',
};
const far = (more: string) =>
  `tools:\n  far:\n    purpose: Works far away.\n    effect: act\n    limits: { seconds: 1, output-bytes: 1 }\n${more}`;
const parsed = (more: string) => parseSpecSet([{ file: 'tools.yaml', text: far(more) }, WORK], catalogue);

describe('a tool that is bound to an upstream server', () => {
  it('keeps its binding, with defaults', () => {
    const spec = parsed(
      '    upstream: { server: files, tool: moveFile }\n    parameters: [{ name: to, as: newPath, role: path:write, description: Where to. }]\n',
    );
    expect(spec).toMatchObject({
      ok: true,
      specs: {
        tools: {
          far: {
            upstream: { server: 'files', tool: 'moveFile', schemaHash: null, folders: 'contents' },
            parameters: [{ name: 'to', as: 'newPath' }],
          },
        },
      },
    });
  });

  it('leaves other tools unchanged', () => {
    const spec = parsed('    parameters: []\n');
    expect(spec.ok && 'upstream' in spec.specs.tools['far']!).toBe(false);
    expect(spec.ok && 'as' in spec.specs.tools['read']!.parameters[0]!).toBe(false);
  });

  it.each([
    ['    upstream: { tool: x }\n    parameters: []\n', 'tools.far.upstream'],
    ['    upstream: { server: Files, tool: x }\n    parameters: []\n', 'tools.far.upstream.server'],
    ['    upstream: { server: a, tool: x, schema-hash: abc }\n    parameters: []\n', 'tools.far.upstream.schema-hash'],
    ['    upstream: { server: a, tool: x, folders: all }\n    parameters: []\n', 'tools.far.upstream.folders'],
    ['    parameters: [{ name: a, as: b, role: text, description: A. }]\n', 'tools.far.parameters.0.as'],
    [
      '    upstream: { server: a, tool: x }\n    parameters: [{ name: a, role: text, description: A. }, { name: b, as: a, role: text, description: B. }]\n',
      'tools.far.parameters.1.as',
    ],
  ])('reports %j at %s', (more, path) => {
    expect(parsed(more)).toMatchObject({ ok: false, problems: [{ path }] });
  });

  it('is printed in the authored form from which it was read', () => {
    const spec = parsed(
      `    upstream: { server: a, tool: x, schema-hash: ${'0a'.repeat(32)}, folders: names }\n    parameters: [{ name: a, as: b, role: text, description: A. }]\n`,
    );
    if (!spec.ok) throw new Error(JSON.stringify(spec.problems));
    const files = printSpecs(spec.specs);
    const again = parseSpecSet(
      [...files].map(([file, text]) => ({ file, text })),
      catalogue,
    );
    expect(again).toMatchObject({ ok: true, specs: { tools: { far: spec.specs.tools['far'] } } });
  });
});

describe('upstream in hopgate.yaml', () => {
  it('resolves a program and an address', () => {
    const text = `upstream:
  files: { command: [npx, some-server, .], env: { LEVEL: info, API_KEY: "\${KEY}" }, cwd: tools }
  far: { url: "https://example.com/mcp", headers: { authorization: "Bearer \${TOKEN}" }, contained: true }
`;
    expect(parseProjectConfig(text)).toMatchObject({
      ok: true,
      config: {
        upstream: {
          files: {
            command: ['npx', 'some-server', '.'],
            env: { LEVEL: 'info', API_KEY: '${KEY}' },
            cwd: 'tools',
            contained: false,
          },
          far: {
            url: 'https://example.com/mcp',
            headers: { authorization: 'Bearer ${TOKEN}' },
            contained: true,
          },
        },
      },
    });
  });

  it.each([
    ['{}', 'upstream.a', 'either a command or a url'],
    ['{ command: [x], url: "https://e.com/" }', 'upstream.a', 'either a command or a url'],
    ['{ command: [] }', 'upstream.a.command', 'must not be empty'],
    ['{ url: "http://example.com/" }', 'upstream.a.url', 'https'],
    ['{ url: "http://localhost.example.com/" }', 'upstream.a.url', 'https'],
    ['{ url: "https://me:word@example.com/" }', 'upstream.a.url', 'user name'],
    ['{ url: "https://e.com/", env: { A: b } }', 'upstream.a.env', 'is only allowed with a command'],
    ['{ command: [x], headers: { A: b } }', 'upstream.a.headers', 'is only allowed with a url'],
    ['{ command: [x], env: { GITHUB_TOKEN: ghp_123 } }', 'upstream.a.env.GITHUB_TOKEN', 'must not be in this file'],
    [
      '{ url: "https://e.com/", headers: { Authorization: Bearer x } }',
      'upstream.a.headers.Authorization',
      'must not be in this file',
    ],
    [
      '{ url: "https://e.com/", headers: { x-api-key: x } }',
      'upstream.a.headers.x-api-key',
      'must not be in this file',
    ],
    ['{ command: [x, "--api-key=abc"] }', 'upstream.a.command.1', 'must not be in this file'],
    ['{ url: "https://e.com/mcp?token=abc" }', 'upstream.a.url', 'must not be in this file'],
    ['{ command: [x], env: { "A B": c } }', 'upstream.a.env.A B', 'name of a variable'],
    ['{ command: [x], env: { A: "b\\nc" } }', 'upstream.a.env.A', 'one line'],
    ['{ comand: [x] }', 'upstream.a.comand', 'unknown key'],
  ])('reports %s', (server, path, message) => {
    const result = parseProjectConfig(`upstream: { a: ${server} }\n`);
    if (result.ok) throw new Error('it was accepted');
    expect(result.problems.map((problem) => problem.path)).toContain(path);
    expect(result.problems.find((problem) => problem.path === path)!.message).toContain(message);
  });

  it('accepts a secret by its name or from the environment', () => {
    const text = `upstream:
  a: { command: [x, "--token=\${TOKEN}", --token-file=here, --keyboard=us], env: { TOKEN_COUNT: "3", MONKEY: b } }
  b: { url: "https://e.com/mcp?key_id=7&token=\${TOKEN}" }
`;
    expect(parseProjectConfig(text)).toMatchObject({ ok: true });
  });

  it('accepts any address of this machine and any https host, but no other http host', () => {
    const host = fc.domain();
    fc.assert(
      fc.property(host, fc.constantFrom('http', 'https'), (name, scheme) => {
        const { ok } = parseProjectConfig(stringify({ upstream: { a: { url: `${scheme}://${name}/mcp` } } }));
        expect(ok).toBe(scheme === 'https');
      }),
    );
    for (const local of ['localhost', '127.0.0.1:8080', '[::1]:1/x'])
      expect(parse(`http://${local}/`) && parseProjectConfig(`upstream: { a: { url: "http://${local}" } }`).ok).toBe(
        true,
      );
  });
});
