import { usageError } from '../io.ts';

export interface HttpAddress {
  readonly address: string;
  readonly port: number;
}

/** Parses the value of `--http`: none (true), a port, an address, or both (`[::1]:8123`). @throws CliError `usage` */
export function parseHttpAddress(text: string | true): HttpAddress {
  if (text === true) return { address: '127.0.0.1', port: 0 };
  const parts =
    /^(?:(\[[0-9a-f:.]+\]|[^\s:[\]]+):)?(\d{1,5})$/i.exec(text) ?? /^(\[[0-9a-f:.]+\]|[^\s:[\]]+)$/i.exec(text);
  const port = Number(parts?.[2] ?? 0);
  if (parts === null || port > 65535)
    throw usageError(`"${text}" is not an address`, 'Write --http, --http PORT or --http ADDRESS:PORT.');
  return { address: (parts[1] ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1'), port };
}

export const isLoopbackHost = (address: string): boolean =>
  address === 'localhost' || address === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
