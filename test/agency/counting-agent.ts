import { createServer } from 'node:http';
import { listening } from './breaking-wire.ts';

/** An agent over HTTP that keeps the prompt of each of its starts. */
export async function openCountingAgent(delayMs = 0) {
  const prompts: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      prompts.push(JSON.parse(body).prompt);
      setTimeout(() => response.end(JSON.stringify({ response: 'a view' })), delayMs);
    });
  });
  return { server, url: `http://127.0.0.1:${await listening(server)}/`, prompts };
}
