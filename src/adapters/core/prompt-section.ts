import type { Session } from '../../session/session.ts';

/** What an agent is told on entry (P-2): where it is, what it sees, what it can do, how it can leave. */
export function promptSection(session: Session): string {
  const { peripheral, mode } = session.state;
  const { tools, hops, modes } = session.available();
  return [
    `You are in the peripheral "${peripheral ?? 'none'}"${mode ? `, mode ${mode}` : ''}.`,
    `Tools: ${tools.join(', ') || 'none'}.`,
    `Hops: ${hops.map(({ to, exit }) => `${to} by ${exit}`).join(', ') || 'none'}.`,
    `Modes: ${modes.map(({ to }) => to).join(', ') || 'none'}.`,
  ].join('\n');
}
