import { fieldsOf, isObject, setOwnField } from '../../base/json.ts';
import { mapValues } from '../../base/map-values.ts';
import { listBlobParameters } from '../../evidence/blob-values.ts';
import type { OutcomeRecord } from '../../evidence/bodies.ts';
import type { StepPlan } from '../../gate/decide-step.ts';
import { describeFruitType, isValueOfFruitType } from '../../gate/fruit.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type {
  CallControls,
  CallEnvelope,
  ToolBackend,
  ToolCall,
  ToolRefusal,
  ToolReport,
} from '../../ports/tool-backend.ts';
import { getOwn } from '../../spec/names.ts';
import { OBSERVED_EFFECT_KINDS } from '../../spec/policy/effect-ops.ts';
import { MAX_FRUIT_FILES } from '../../spec/policy/limits.ts';
import { TOOL_EFFECT_FACTS } from '../../spec/policy/tool-effects.ts';
import { CHECK_PASSED_VALUE } from '../../spec/reported-fields.ts';
import type { Fields, Json, PeripheralSpec, ToolSpec } from '../../spec/types.ts';
import { toPlainJson, toText } from '../convert-input.ts';
import { mergeFileLists, pathsInToolResult } from '../state/observations.ts';

/** The greatest size of a value in an entry, in bytes of JSON. A larger value becomes a blob. */
const INLINE_BYTES = 32 * 1024;

/**
 * Runs one allowed call. If a backend throws or returns no valid report, the outcome says so, and the effects are
 * unobserved. The report is converted to plain JSON, so that it can always be recorded.
 */
export async function runToolBackend(
  backend: ToolBackend,
  plan: StepPlan,
  envelope: CallEnvelope,
  watch: CallControls & Pick<ToolCall, 'sessionId' | 'state' | 'assertLease'>,
): Promise<ToolReport<Json>> {
  let { signal, state: sessionState } = watch;
  if (signal?.aborted)
    return {
      outcome: { status: 'failed', code: 'aborted', message: 'The call was aborted before it ran.' },
      effects: [],
    };
  try {
    const report = await backend.run({
      ...watch,
      tool: plan.tool,
      // Copies, so that a backend that changes them changes no evidence and no state.
      ...(toPlainJson({ args: plan.args, ...(sessionState && { state: sessionState }) }) as Pick<
        ToolCall,
        'args' | 'state'
      >),
      envelope,
      // If the caller passed no signal, the tool gets a signal that never aborts. It is made only if the tool reads it.
      get signal() {
        signal ??= new AbortController().signal;
        return signal;
      },
    });
    const { outcome, effects, observed, state } = fieldsOf(toPlainJson(report)) as unknown as ToolReport<Json>;
    const problem =
      outcomeProblem(outcome) ??
      effectsProblem(effects) ??
      reportProblem('observes', plan.tool.observes, observed) ??
      reportProblem('state', plan.tool.state, state);
    if (problem !== null) throw new Error(problem);
    return {
      outcome: outcome.status === 'ok' ? { result: outcome.result ?? null, status: 'ok' } : outcome,
      effects: effects === 'unobserved' ? effects : [...effects],
      ...(outcome.status === 'refused'
        ? {}
        : {
            ...fieldIfFilled('observed', outcome.status === 'ok' ? observed : withoutPass(observed)),
            ...fieldIfFilled('state', state),
          }),
    };
  } catch (error) {
    const message = toText(error instanceof Error ? error.message : error);
    return {
      outcome: { status: 'failed', code: 'backend-error', message: `[tools/${backend.name}] ${message}` },
      effects: TOOL_EFFECT_FACTS[plan.tool.effect].mayChangeTree ? 'unobserved' : [],
    };
  }
}

/** An object with `fields` under `name`, as a report has them; an empty object if there are no fields. */
const fieldIfFilled = (
  name: 'observed' | 'state',
  fields: ToolReport<Json>['state'] = {},
): Pick<ToolReport<Json>, 'observed' | 'state'> => (Object.keys(fields).length === 0 ? {} : { [name]: { ...fields } });

/** The problem of an outcome that no entry can hold; null if none. */
function outcomeProblem(outcome: unknown): string | null {
  const { status, code, message, remedy } = fieldsOf(outcome);
  if (status === 'ok') return null;
  if (status === 'failed')
    return isText(code) && isText(message) ? null : 'the report has an outcome "failed" without a code and a message';
  if (status !== 'refused') return 'the report has no outcome with the status ok, failed or refused';
  return REFUSAL_CODES.includes(code) && isText(message) && isText(remedy)
    ? null
    : `the report has an outcome "refused" without a message, a remedy and a code, one of ${REFUSAL_CODES.join(', ')}`;
}

const REFUSAL_CODES: readonly unknown[] = [
  'out-of-scope',
  'invalid-action',
  'sandbox-unavailable',
] satisfies ToolRefusal['code'][];

const isText = (value: unknown): boolean => typeof value === 'string';

/** The problem of effects that no entry can hold; null if none. */
function effectsProblem(effects: unknown): string | null {
  if (effects === 'unobserved') return null;
  if (!Array.isArray(effects)) return 'the report has no effects';
  const wrong = effects.find((effect) => !isText(fieldsOf(effect).path) || !OPS.includes(fieldsOf(effect).op));
  return wrong === undefined
    ? null
    : `the backend reported ${JSON.stringify(wrong)} as an effect; an effect has a path and an op, one of ${OBSERVED_EFFECT_KINDS.join(', ')}`;
}

const OPS: readonly unknown[] = OBSERVED_EFFECT_KINDS;

/** No check passes in a call that failed: its result is unknown. */
const withoutPass = (observed: ToolReport<Json>['observed'] = {}): ToolReport<Json>['observed'] =>
  mapValues(observed, (value) => (value === CHECK_PASSED_VALUE ? null : value));

/** The problem of the first field that the tool does not declare, or declares with another type; null if none. */
function reportProblem(
  key: 'observes' | 'state',
  declared: ToolSpec['state'] = {},
  fields: ToolReport<Json>['state'] = {},
) {
  for (const [field, value] of Object.entries(fields)) {
    const type = getOwn(declared, field);
    if (type === undefined) return `the backend reported "${field}", which the tool does not list under ${key}`;
    if (value !== null && !isValueOfFruitType(value, type))
      return `the backend reported "${field}" with a value that is not ${describeFruitType(type)}`;
    if (JSON.stringify(value).length > INLINE_BYTES) return `the backend reported "${field}" with more than 32 KiB`;
  }
  return null;
}

/**
 * True for a large value, and for a value with the form of a blob reference, because `verify` would search for a blob
 * of that id.
 */
const isStoredAsBlob = (value: Json): boolean =>
  looksLikeReference(value) ||
  (typeof value === 'object' && JSON.stringify(value).length > INLINE_BYTES) ||
  // A character takes at most six bytes of JSON.
  (typeof value === 'string' && value.length > INLINE_BYTES / 6 - 2 && JSON.stringify(value).length > INLINE_BYTES);

/** Returns a value as evidence keeps it: the value itself, or `{ blob, bytes }`. */
async function storeValue(store: EvidenceStore, value: Json): Promise<Json> {
  if (!isStoredAsBlob(value)) return value;
  const bytes = Buffer.from(JSON.stringify(value));
  return { blob: await store.putBlob(bytes), bytes: bytes.length };
}

const looksLikeReference = (value: Json): boolean => isObject(value) && 'blob' in value && 'bytes' in value;

/**
 * Returns arguments as evidence keeps them: the arguments that the gate judged stay, and any other large argument
 * becomes a blob.
 */
export async function storeLargeArguments(
  store: EvidenceStore,
  tool: ToolSpec,
  peripheral: PeripheralSpec | undefined,
  args: Fields,
): Promise<{ [name: string]: Json }> {
  const unjudged = listBlobParameters(tool, peripheral).filter(({ name }) => Object.hasOwn(args, name));
  if (unjudged.length === 0) return { ...args };
  const stored = await storeLargeFields(
    store,
    Object.fromEntries(unjudged.map(({ name }) => [name, args[name]!] as const)),
  );
  return { ...args, ...stored };
}

/** Returns an object as evidence keeps it: each large field becomes a blob of its own. */
export async function storeLargeFields(store: EvidenceStore, fields: Fields): Promise<{ [name: string]: Json }> {
  const large = Object.keys(fields).filter((name) => isStoredAsBlob(fields[name]!));
  const stored = { ...fields };
  if (large.length > 0)
    await Promise.all(large.map(async (name) => setOwnField(stored, name, await storeValue(store, fields[name]!))));
  return stored;
}

/** Returns an outcome as evidence keeps it: a large result, or each large field of it, becomes a blob. */
export async function storeLargeOutcome(
  store: EvidenceStore,
  outcome: ToolReport<Json>['outcome'],
): Promise<OutcomeRecord> {
  if (outcome.status === 'refused') return { status: 'refused', code: outcome.code, message: outcome.message };
  if (outcome.result === undefined) return outcome as OutcomeRecord;
  const { result } = outcome;
  const stored =
    isObject(result) && !looksLikeReference(result)
      ? await storeResult(store, result)
      : await storeValue(store, result);
  return { ...outcome, result: stored } as OutcomeRecord;
}

async function storeResult(store: EvidenceStore, { runs, ...result }: { [key: string]: Json }): Promise<Json> {
  const stored = await storeLargeFields(store, result);
  for (const list of ['matches', 'files']) {
    const reference = stored[list];
    if (reference !== result[list] && isObject(reference))
      stored[list] = { ...reference, paths: [...mergeFileLists([], pathsInToolResult(result[list]), MAX_FRUIT_FILES)] };
  }
  const { report } = result;
  if (isObject(report)) stored['report'] = await storeLargeFields(store, report);
  if (Array.isArray(runs))
    stored['runs'] = await Promise.all(
      runs.map((run) => (isObject(run) ? storeResult(store, run) : storeValue(store, run))),
    );
  return stored;
}
