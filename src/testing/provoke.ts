import type { Asked } from '../audit/expected.ts';
import type { Pinned } from '../audit/ledger.ts';
import { scopeNow, type Standing } from '../audit/standing.ts';
import { type Json, MODES } from '../spec/types.ts';
import { type Move, movesFrom, statedFruit } from './moves.ts';
import { fileIn, sampleArguments } from './sample-arguments.ts';

/** How many targets without an edge are tried from one place of a large spec set. */
const SAMPLE = 1;
const OUTSIDE_SAMPLE = 20;

/**
 * What one may ask where a session stands and the machines have no transition for, or a rule stands against: hops without an edge, exits that
 * open something else, tools outside of the envelope, arguments that do not fit, places out of scope, jumps of mode, starts inside, steps
 * outside. What is lawful after all is let through: the spec decides, not this list.
 */
export function provocations(pinned: Pinned, standing: Standing, how: 'whole' | 'sample' | 'edges'): readonly Move[] {
  const { specs } = pinned;
  const whole = how === 'whole';
  if (how === 'edges' && standing.visit) return atEdges(pinned, standing);
  const named = (name: string, asked: Asked): Move => ({ name: `? ${name}`, asked });
  const spec = standing.visit ? specs.peripherals[standing.visit.peripheral] : undefined;
  const ids = Object.keys(specs.peripherals);
  const hop = (to: string, more: Partial<Extract<Asked, { kind: 'hop' }>> = {}): Asked => ({
    kind: 'hop',
    to,
    reason: 'because',
    by: 'agent',
    approves: true,
    ...(spec ? { fruit: statedFruit(spec) } : {}),
    ...more,
  });
  const anyone = ids[0] ?? 'nowhere';
  const moves: Move[] = [
    named('hop nowhere', hop('no-such-peripheral')),
    named('step with no such tool', { kind: 'step', tool: 'no-such-tool', args: {} }),
    named('start nowhere', { kind: 'start', peripheral: 'no-such-peripheral', by: 'operator' }),
    ...modeJumps(pinned, standing, named),
  ];
  if (!spec) {
    const tool = Object.keys(specs.tools)[0];
    if (tool) moves.push(named('step outside', { kind: 'step', tool, args: {} }));
    moves.push(named('stop outside', { kind: 'stop' }), named(`hop ${anyone} outside`, hop(anyone)));
    const starts = movesFrom(pinned, standing);
    moves.push(...(whole ? starts : starts.slice(0, OUTSIDE_SAMPLE)));
    return moves;
  }
  moves.push(
    named('close inside', { kind: 'close' }),
    named('start inside', { kind: 'start', peripheral: anyone, by: 'operator' }),
    ...fruits(spec, named),
    ...tools(pinned, standing, named, whole),
  );
  const closed = ids.filter((to) => !spec.exits.some(({ opens }) => opens.some((open) => open.to === to)));
  const tried = whole ? closed : rotate(closed, ids.indexOf(spec.id)).slice(0, SAMPLE);
  for (const to of tried) moves.push(named(`hop ${to} without an exit`, hop(to)));
  for (const to of tried) {
    const exits = whole ? spec.exits : spec.exits.slice(0, 1);
    for (const { name } of exits) moves.push(named(`hop ${to} by ${name}`, hop(to, { exit: name, by: 'operator' })));
  }
  if (!whole) moves.push(...atEdges(pinned, standing));
  for (const { name, opens, implies } of spec.exits) {
    for (const { to } of opens) {
      moves.push(
        named(`hop ${to} by ${name} without approval`, hop(to, { exit: name, by: 'operator', approves: false })),
        named(`hop ${to} by no such exit`, hop(to, { exit: 'no-such-exit' })),
        named(`hop ${to} by any exit`, hop(to)),
        named(`hop ${to} by ${name} as the clock`, hop(to, { exit: name, by: 'clock' })),
      );
      if (implies === null)
        moves.push(named(`hop ${to} by ${name} without a reason`, hop(to, { exit: name, reason: ' ' })));
      moves.push(named(`hop ${to} by ${name}`, hop(to, { exit: name })));
      if (!whole) break;
    }
    if (!whole) break;
  }
  return moves;
}

/** Every edge out of here, that a rule may stand against; a target without an edge; a tool out of the envelope. */
function atEdges(pinned: Pinned, standing: Standing): readonly Move[] {
  const { specs, config } = pinned;
  const spec = specs.peripherals[standing.visit!.peripheral]!;
  const at = Object.keys(specs.peripherals).indexOf(spec.id);
  const hops = movesFrom(pinned, standing).filter(({ asked }) => asked.kind === 'hop');
  const approvals = hops.flatMap((move): Move[] =>
    move.asked.kind === 'hop' && isApproved(pinned, move.asked.to)
      ? [{ name: `${move.name} without approval`, asked: { ...move.asked, approves: false } }]
      : [],
  );
  const closed = Object.keys(specs.peripherals).filter(
    (to) => !spec.exits.some(({ opens }) => opens.some((open) => open.to === to)),
  );
  const [to] = rotate(closed, at);
  const [tool] = rotate(
    Object.values(specs.tools).filter(({ id }) => !spec.tools.includes(id)),
    at,
  );
  const reason = { reason: 'because', by: 'agent', approves: true, fruit: statedFruit(spec) } as const;
  return [
    ...hops,
    ...approvals,
    ...(to === undefined
      ? []
      : [{ name: `? hop ${to} without an exit`, asked: { kind: 'hop', to, ...reason } as const }]),
    ...(tool
      ? [
          {
            name: `? ${tool.id} outside of the envelope`,
            asked: {
              kind: 'step',
              tool: tool.id,
              args: { ...sampleArguments(tool, { scope: ANY, config, files: [] }) },
            } as const,
          },
        ]
      : []),
  ];
}

const ANY = { read: 'root', write: ['src/'], command: 'contained', url: 'allow-list' } as const;

const isApproved = ({ specs }: Pinned, to: string): boolean =>
  Object.values(specs.peripherals).some(({ gates }) => gates[to]?.some(({ kind }) => kind === 'approval'));

const rotate = <T>(list: readonly T[], by: number): readonly T[] => {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
};

type Named = (name: string, asked: Asked) => Move;

function modeJumps({ specs }: Pinned, { mode }: Standing, named: Named): Move[] {
  if (!specs.gate || mode === null)
    return [named('a mode without a gate', { kind: 'mode', to: 'execute', by: 'agent', approves: true })];
  const to = (target: string, more: Partial<Extract<Asked, { kind: 'mode' }>> = {}): Asked => ({
    kind: 'mode',
    to: target,
    by: 'agent',
    summary: 'so far',
    approves: true,
    ...more,
  });
  const { gate } = specs;
  const away = gate.transitions.find(({ from }) => from === mode);
  return [
    named('mode of no such name', to('panic')),
    ...MODES.filter(
      (target) => target === mode || !gate.transitions.some((one) => one.from === mode && one.to === target),
    ).map((target) => named(`mode ${mode} → ${target}`, to(target))),
    named('reset by the agent', to(gate.reset, { reset: true })),
    ...MODES.filter((target) => target !== gate.reset).map((target) =>
      named(`reset to ${target}`, to(target, { reset: true, by: 'operator' })),
    ),
    ...(away?.summary ? [named(`mode ${away.to} without a summary`, to(away.to, { summary: ' ' }))] : []),
    ...(away?.approval ? [named(`mode ${away.to} without approval`, to(away.to, { approves: false }))] : []),
  ];
}

function fruits(spec: NonNullable<Pinned['specs']['peripherals'][string]>, named: Named): Move[] {
  const stated = statedFruit(spec);
  const stop = (name: string, fruit: { readonly [field: string]: Json }) =>
    named(`stop with ${name}`, { kind: 'stop', fruit });
  return [
    stop('a strange fruit', { ...stated, 'no-such-field': 1 }),
    ...Object.entries(spec.fruit).flatMap(([field, rule]) => {
      const { [field]: _, ...without } = stated;
      if (rule.kind === 'observed') return [stop(`${field} made up`, { ...stated, [field]: { made: 'up' } })];
      const wrong = stop(`${field} of another type`, { ...stated, [field]: { other: [] } });
      const typed = rule.type === 'object' ? [] : [wrong];
      return rule.optional ? typed : [...typed, stop(`no ${field}`, without)];
    }),
  ];
}

function tools(pinned: Pinned, standing: Standing, named: Named, whole: boolean): Move[] {
  const { specs, config } = pinned;
  const spec = specs.peripherals[standing.visit!.peripheral]!;
  const scope = scopeNow(pinned, standing);
  const reach = { scope, config, files: standing.files };
  const open = { scope: ANY, config, files: [] };
  const outside = Object.keys(specs.tools).filter((id) => !spec.tools.includes(id));
  const at = Object.keys(specs.peripherals).indexOf(spec.id);
  const tried = whole ? outside : rotate(outside, at).slice(0, SAMPLE);
  return Object.values(specs.tools).flatMap((tool) => {
    const call = (name: string, args: Json) => named(`${tool.id} ${name}`, { kind: 'step', tool: tool.id, args });
    if (!spec.tools.includes(tool.id) && !tried.includes(tool.id)) return [];
    if (!spec.tools.includes(tool.id)) return [call('outside of the envelope', { ...sampleArguments(tool, open) })];
    const args = sampleArguments(tool, reach);
    const most = { ...(args ?? sampleArguments(tool, open)) };
    const moves = [
      call('with what it takes', most),
      call('with a strange argument', { ...most, 'no-such-argument': 1 }),
    ];
    moves.push(
      call(
        'with too many arguments',
        Array.from({ length: tool.parameters.length + 1 }, () => 'x'),
      ),
    );
    moves.push(call('with no object', 'text'));
    for (const { name, role, required } of tool.parameters) {
      const { [name]: _, ...without } = most;
      if (required || name in most) moves.push(call(`without ${name}`, without));
      moves.push(call(`with a wrong ${name}`, { ...most, [name]: { wrong: true } }));
      if (role === 'path:read' || role === 'path:write') {
        for (const path of [
          '../outside',
          'src/../../outside',
          '/etc/passwd',
          'a\u0000b',
          ...(config.mask.length > 0 ? [maskedBy(config.mask[0]!)] : []),
          '.git/config',
          '.git/hooks/pre-commit',
          'hopgate.yaml',
          'elsewhere/a.txt',
          ...(scope.write[0]
            ? [
                `${scope.write[0].replace(/\/+$/, '')}-not/a.txt`,
                `${scope.write[0].replace(/\/+$/, '')}/.git/hooks/pre-commit`,
                fileIn(scope.write[0]),
              ]
            : []),
        ])
          moves.push(call(`on ${path}`, { ...most, [name]: path }));
      }
      // What else a command or an address may be is for the tool itself to refuse.
      if (role === 'command' && scope.command === 'none')
        moves.push(call('with a command', { ...most, [name]: 'true' }));
      if (role === 'url' && scope.url === 'none')
        moves.push(call('with an address', { ...most, [name]: 'https://example.com/' }));
    }
    return moves;
  });
}

/** A path that a mask hides. */
const maskedBy = (mask: string): string => mask.replaceAll('**/', 'a/').replaceAll('*', 'x').replace(/\/+$/, '');
