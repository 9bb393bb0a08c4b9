import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { isDeep } from '../depth.ts';
import { called, done, serve, toolNames } from './mcp.ts';
import { commitAll, machine } from './run.ts';

const SPECS = resolve('test/fixtures/specs/support-agent');
const DESK = resolve('test/cli/desk-server.ts');
const specs = Object.fromEntries(
  readdirSync(SPECS, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((file) => [join('specs', file.slice(SPECS.length)), readFileSync(file, 'utf8')]),
);

it.runIf(isDeep)(
  'a support agent works over MCP: modes, resources, rules and approvals bind the tools of another server',
  async () => {
    const config = `specs: specs\nupstream:\n  desk: { command: ["${process.execPath}", "${DESK}", paid.txt] }\n`;
    const here = machine({ ...specs, 'hopgate.yaml': config, 'README.md': '# Desk\n' });
    commitAll(here.root);
    const trusted = await here.run('trust', '--yes');
    expect(trusted.code, trusted.all).toBe(0);
    const { client, opened } = await serve(here, ['--approve', 'refund']);
    const refused = async (tool: string, args: object) => (await called(client, tool, args as never)).text;
    expect(await toolNames(client)).toEqual(['ticket-read', 'hop', 'mode', 'status', 'why']);
    expect(await refused('ticket-read', { ticket: 'accounts/17' })).toContain('out-of-scope');
    expect(await refused('hop', { to: 'answer', exit: 'open', reason: 'it is open' })).toContain('exit-not-met');
    await done(client, 'ticket-read', { ticket: 'tickets/17' });
    await done(client, 'hop', { to: 'answer', exit: 'open', reason: 'it is open' });
    expect(await refused('refund', { ticket: 'tickets/17', amount: 20 })).toContain('mode-forbids');
    expect(await done(client, 'mode', { to: 'resolve', reason: 'to answer' })).toContain('refund');
    expect(await refused('refund', { ticket: 'tickets/17', amount: 5_000_000 })).toContain('args.amount <= 500');
    expect(await refused('refund', { ticket: 'tickets/17', amount: 81 })).toContain('args.amount <= backpack.paid');
    expect(await refused('refund', { ticket: 'tickets/1', amount: 20 })).toContain('out-of-scope');
    await done(client, 'refund', { ticket: 'tickets/17', amount: 80 });
    await done(client, 'ticket-answer', { ticket: 'tickets/17', text: 'It is on its way.' });
    expect(await refused('hop', { to: 'read', exit: 'answered', reason: 'done' })).toContain('exit-not-met');
    await done(client, 'ticket-read', { ticket: 'tickets/17' });
    await done(client, 'hop', { to: 'read', exit: 'answered', reason: 'done' });
    await client.close();
    expect(readFileSync(join(here.root, 'paid.txt'), 'utf8')).toBe('tickets/17 80\n');
    const verdict = await here.run('verify', opened.session);
    expect(verdict.code, verdict.all).toBe(0);
  },
);
