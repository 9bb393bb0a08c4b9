import { createServer } from 'node:http';
import { listening } from './breaking-wire.ts';

/**
 * An agent over HTTP that records the prompt of each start, works for a time or until a promise settles, and counts
 * aborted calls.
 */
export async function openCountingAgent(wait: number | Promise<unknown> = 0) {
  const prompts: string[] = [];
  let left = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      prompts.push(JSON.parse(body).prompt);
      response.on('close', () => (left += response.writableFinished ? 0 : 1));
      const answer = () => response.end(JSON.stringify({ response: 'a view' }));
      if (typeof wait === 'number') setTimeout(answer, wait);
      else void wait.then(answer);
    });
  });
  return { server, url: `http://127.0.0.1:${await listening(server)}/`, prompts, left: () => left };
}
