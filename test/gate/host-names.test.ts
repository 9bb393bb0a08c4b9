import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEndpointAllowed } from '../../src/audit/rules/audited-hosts.ts';
import {
  canonicalHost,
  connectionProblem,
  isHostListed,
  parseHostAndPort,
  printHostAndPort,
} from '../../src/gate/scope/host-names.ts';
import { isPublicAddress } from '../../src/tools/web/public-address.ts';

test.each([
  ['Example.COM.', 'example.com'],
  ['0x7f.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['[::FFFF:127.0.0.1]', '::ffff:7f00:1'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['a b', ''],
  ['a@b', ''],
  ['a/b', ''],
  ['a%00b', ''],
  ['a\0.b', ''],
  ['', ''],
  ['[', ''],
])('the host %j is read as %j', (text, host) => {
  expect(canonicalHost(text)).toBe(host);
});

test.each([
  'example.com',
  'example.com:',
  'example.com:0',
  'example.com:65536',
  ':80',
  'a:80:80',
  'example.com:80 ',
  '::1:80',
])('%j is not a valid host', (text) => {
  expect(parseHostAndPort(text)).toBeNull();
});

const LIST = ['a.example', '*.b.example', 'c.example:8443', '10.0.0.5:22', '[::1]:8080'];
const PLACES: readonly (readonly [string, boolean])[] = [
  ['a.example:443', true],
  ['a.example:80', true],
  ['A.example.:443', true],
  ['a.example:8443', false],
  ['x.a.example:443', false],
  ['xa.example:443', false],
  ['b.example:443', false],
  ['x.b.example:443', true],
  ['y.x.b.example:443', true],
  ['.b.example:443', false],
  ['c.example:443', false],
  ['c.example:8443', true],
  ['10.0.0.5:22', true],
  ['10.0.0.5:443', false],
  ['[::1]:8080', true],
  ['[::1]:80', false],
  ['127.0.0.1:8080', false],
];

test.each(PLACES)('the address %s counts as listed: %j', (text, listed) => {
  const place = parseHostAndPort(text);
  expect(place !== null && isHostListed(LIST, place)).toBe(listed);
});

describe('a connection to a listed host', () => {
  const problem = (text: string, ...addresses: string[]) =>
    connectionProblem([...LIST, '10.0.0.7'], parseHostAndPort(text)!, addresses, isPublicAddress);

  test.each([
    ['a.example:443', ['1.1.1.1'], null],
    ['a.example:443', ['1.1.1.1', '127.0.0.1'], 'the name leads to 127.0.0.1, which is not a public address'],
    ['a.example:443', ['::ffff:1.1.1.1'], 'the name leads to ::ffff:1.1.1.1, which is not a public address'],
    ['a.example:443', ['169.254.169.254'], 'the name leads to 169.254.169.254, which is not a public address'],
    ['a.example:443', ['10.0.0.7'], null],
    ['10.0.0.5:22', ['10.0.0.5'], null],
    ['evil.example:443', [], 'the host is not in the list of allowed hosts'],
  ])('to %s at %j has the problem: %j', (text, addresses, expected) => {
    expect(problem(text, ...addresses)).toBe(expected);
  });
});

test('the gate and the audit agree on every host and port', () => {
  const name = fc.constantFrom(
    'a.example',
    'x.b.example',
    'b.example',
    'c.example',
    'evil.example',
    '10.0.0.5',
    '[::1]',
    '[::2]',
  );
  const port = fc.constantFrom('', ':80', ':443', ':22', ':8443', ':8080');
  const rule = fc
    .tuple(fc.constantFrom('', '*.'), name, port)
    .map(([star, host, at]) => `${host.startsWith('[') ? '' : star}${host}${at}`);
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 4 }), name, port, (rules, host, at) => {
      const place = parseHostAndPort(`${host}${at || ':443'}`)!;
      expect(isEndpointAllowed(printHostAndPort(place), rules)).toBe(isHostListed(rules, place));
    }),
    { numRuns: 2000 },
  );
});
