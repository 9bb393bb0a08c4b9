import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { MockLanguageModelV4 } from 'ai/test';
import { onTestFinished } from 'vitest';
import { AgentFailed } from '../../src/agency/agent-driver.ts';
import { aiSdkDriver } from '../../src/agency/drivers/ai-sdk-driver.ts';
import { claudeCodeDriver } from '../../src/agency/drivers/claude-code-driver.ts';
import { codexDriver } from '../../src/agency/drivers/codex-driver.ts';
import { httpDriver } from '../../src/agency/drivers/http-driver.ts';
import { scriptedDriver } from '../../src/agency/drivers/scripted-driver.ts';
import { type AgentDouble, describeAgencyDriver } from '../contracts/agency-driver.ts';
import { folder } from './agency-nodes.ts';

const never = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))));

describeAgencyDriver('scripted', async (double) => {
  const starts: string[] = [];
  const driver = scriptedDriver([
    ({ instructions, prompt, signal }) => {
      starts.push(`${instructions}\n${prompt}`);
      if (double === 'fails') throw new AgentFailed('no');
      return double === 'hangs' ? never(signal) : 'pong';
    },
  ]);
  return { driver, starts: () => starts };
});

describeAgencyDriver('ai-sdk', async (double) => {
  const starts: string[] = [];
  const offered: string[] = [];
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt, tools, abortSignal }) => {
      starts.push(
        prompt
          .flatMap(({ content }) =>
            typeof content === 'string' ? [content] : content.map((part) => ('text' in part ? part.text : '')),
          )
          .join('\n'),
      );
      offered.push(...(tools ?? []).map(({ name }) => name));
      if (double === 'fails') throw new Error('the provider is down');
      if (double === 'hangs') return never(abortSignal);
      return {
        content: [{ type: 'text', text: 'pong' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: undefined },
        },
        warnings: [],
      };
    },
  });
  return { driver: aiSdkDriver(model), starts: () => starts, offered: () => offered };
});

describeAgencyDriver('http', async (double) => {
  const starts: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const { instructions, prompt } = JSON.parse(text);
      starts.push(`${instructions}\n${prompt}`);
      if (double === 'hangs') return;
      response.statusCode = double === 'fails' ? 500 : 200;
      response.end(JSON.stringify({ response: 'pong' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { driver: httpDriver({ url, token: null, honours: ['fs', 'shell', 'http'] }), starts: () => starts };
});

/** A program that notes its arguments and its stdin, and then behaves as its double. */
function programOf(double: AgentDouble, answer: string) {
  const at = folder();
  const [program, log] = [join(at, 'agent'), join(at, 'noted.jsonl')];
  const end =
    double === 'hangs'
      ? 'setInterval(() => {}, 1000)'
      : double === 'fails'
        ? 'process.exit(3)'
        : `console.log(${JSON.stringify(answer)})`;
  writeFileSync(
    program,
    `#!${process.execPath}
const text = require('fs').readFileSync(0, 'utf8');
require('fs').appendFileSync(${JSON.stringify(log)}, JSON.stringify({ args: process.argv.slice(2), text }) + '\\n');
${end};
`,
  );
  chmodSync(program, 0o755);
  const notes = (): readonly { readonly args: readonly string[]; readonly text: string }[] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .split('\n')
          .filter((line) => line.endsWith('}'))
          .map((line) => JSON.parse(line))
      : [];
  return { agent: { program, cwd: null, model: null, env: process.env }, notes };
}

describeAgencyDriver('claude-code', async (double) => {
  const { agent, notes } = programOf(double, JSON.stringify({ type: 'result', is_error: false, result: 'pong' }));
  return {
    driver: claudeCodeDriver(agent),
    starts: () => notes().map(({ args, text }) => `${args.join('\n')}\n${text}`),
    offered: () => {
      const { args } = notes().at(-1)!;
      return args[args.indexOf('--tools') + 1]!.split(',').filter((tool) => tool !== '');
    },
  };
});

describeAgencyDriver('codex', async (double) => {
  const { agent, notes } = programOf(
    double,
    JSON.stringify({ type: 'item.completed', item: { type: 'agent_message', text: 'pong' } }),
  );
  return {
    driver: codexDriver(agent),
    starts: () => notes().map(({ text }) => text),
    offered: () => {
      const { args } = notes().at(-1)!;
      const off = args.filter((_, at) => args[at - 1] === '--disable');
      return ['shell_tool', 'multi_agent', 'apps', 'plugins'].filter((feature) => !off.includes(feature));
    },
  };
});
