import { createServer } from 'node:http';
import { listening } from './breaking-wire.ts';

/** An agent over HTTP that keeps the prompt of each of its starts, and counts the calls that were broken off. */
export async function openCountingAgent(delayMs = 0) {
  const prompts: string[] = [];
  let left = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      prompts.push(JSON.parse(body).prompt);
      response.on('close', () => (left += response.writableFinished ? 0 : 1));
      setTimeout(() => response.end(JSON.stringify({ response: 'a view' })), delayMs);
    });
  });
  return { server, url: `http://127.0.0.1:${await listening(server)}/`, prompts, left: () => left };
}
