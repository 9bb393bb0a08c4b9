import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { SpecSet } from '../../src/spec/types.ts';

const catalogue = await loadBuiltInCatalogue();

/**
 * A spec set from its files by name; tools and scopes are the built-in ones unless the set or the caller gives others.
 */
export function specsOf(files: { readonly [file: string]: string }, fallback = catalogue): SpecSet {
  const parsed = parseSpecSet(
    Object.entries(files).map(([file, text]) => ({ file, text })),
    fallback,
  );
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems, null, 2));
  return parsed.specs;
}

/** The mode gate of the built-in specs, with a shorter timeout. */
export const GATE = `
initial: discuss
modes:
  discuss: { effects: [coordinate] }
  diagnose: { effects: [observe, coordinate] }
  execute: { effects: [observe, act, coordinate] }
transitions:
  - { from: discuss, to: diagnose }
  - { from: diagnose, to: execute, approval: operator }
  - { from: execute, to: discuss, summary: true }
reset: discuss
timeout-minutes: 30
`;

/** A review pipeline: conditions of its own, gates in CEL, an agent list, limits. */
export const REVIEW = {
  'gate.yaml': GATE,
  'conditions.yaml': 'conditions: { looked-around: "session.steps > 1 && visits.fix < 9" }\n',
  'peripherals/triage.yaml': `
id: triage
purpose: Find what is to be reviewed.
tools: [read, grep]
scope: full-codebase
entry: [default, from-verdict]
exit: { picked: review, nothing: verdict }
context: { session-id: inherit }
fruit: { pick: { stated: string } }
limits: { steps: 4 }
`,
  'peripherals/review.yaml': `
id: review
purpose: Read the change.
tools: [read, grep, glob]
scope: full-codebase
entry: [from-triage, looked-around]
exit: { needs-work: fix, fine: { to: verdict, when: visit.steps > 0 } }
context: { session-id: inherit, pick: from-triage }
fruit: { remarks: { stated: list, optional: true } }
limits: { minutes: 20 }
`,
  'peripherals/fix.yaml': `
id: fix
purpose: Mend what the review found.
tools: [read, edit, write]
scope: { paths: [src/] }
entry: [from-review, user-request]
exit: { mended: review2, blocked: verdict }
context: { session-id: inherit }
fruit: { changed-files: { observed: list } }
agents: [reviewer]
`,
  'peripherals/review2.yaml': `
id: review2
purpose: Test what was mended.
tools: [bash-test]
scope: test-commands-only
entry: [from-fix]
exit: { pass: verdict, fail: fix, flaky: fix }
context: { session-id: inherit, changed-files: from-fix }
fruit: { result: { observed: [pass, fail, flaky] } }
`,
  'peripherals/verdict.yaml': `
id: verdict
purpose: Say what came of it.
tools: []
scope: conversation
entry: [from-triage, from-review, from-fix, from-review2, agent-request, session-close]
exit: { again: triage }
context: { session-id: inherit }
`,
};

/**
 * An incident runbook without a mode gate, in which the fix needs an approval, and every hop an operator may ask for.
 */
export const RUNBOOK = {
  'peripherals/watch.yaml': `
id: watch
purpose: See what burns.
tools: [read, bash-readonly]
scope: full-codebase
entry: [default, from-any]
exit: { alarm: diagnose }
`,
  'peripherals/diagnose.yaml': `
id: diagnose
purpose: Find out why.
tools: [read, grep, bash-readonly]
scope: full-codebase
entry: [from-watch, user-request]
exit: { cause-known: mitigate, false-alarm: watch }
context: { session-id: inherit }
fruit: { cause: { stated: string }, severity: { stated: integer } }
gates: { mitigate: [{ approval: operator }, { when: fruit.severity > 0 }] }
`,
  'peripherals/mitigate.yaml': `
id: mitigate
purpose: Stop the fire.
tools: [bash-deploy]
scope: git-push-only
entry: [from-diagnose]
exit: { calm: watch, worse: diagnose }
context: { session-id: inherit, cause: from-diagnose }
limits: { steps: 3, minutes: 15 }
`,
};

/** A grid of peripherals, each with `fan` exits to others: `size` × `fan` edges. */
export function grid(size: number, fan: number): { readonly [file: string]: string } {
  const id = (index: number) => `p${String(index % size).padStart(3, '0')}`;
  const files: { [file: string]: string } = {};
  for (let index = 0; index < size; index++) {
    const exits = Array.from({ length: fan }, (_, step) => `  go-${step}: ${id(index + 1 + step * step)}`);
    const entry = index === 0 ? '[default, from-any]' : '[from-any]';
    files[`peripherals/${id(index)}.yaml`] =
      `id: ${id(index)}\npurpose: A peripheral.\ntools: [read]\nscope: full-codebase\nentry: ${entry}\nexit:\n${exits.join('\n')}\n`;
  }
  return files;
}
