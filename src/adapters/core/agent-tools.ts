import type { Session } from '../../session/session.ts';
import { mayNeedApproval } from '../../spec/call-gates.ts';
import { effectsOfMode, listModesOfGate } from '../../spec/mode-way.ts';
import type { Fields, Json, Mode, ModeGateSpec, SpecSet, ToolEffect, ToolSpec } from '../../spec/types.ts';
import type { AgentTool, InputSchema } from './agent-session.ts';

const schema = (properties: Fields, required: readonly string[]): InputSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

export function toAgentTool(tool: ToolSpec, { peripherals }: SpecSet): AgentTool {
  const { id, purpose, effect, parameters } = tool;
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...schema, description } as Json]),
  );
  const required = parameters.flatMap(({ name, required }) => (required ? [name] : []));
  return {
    name: id,
    kind: 'tool',
    description: purpose,
    inputSchema: schema(properties, required),
    effect,
    mayNeedApproval: Object.values(peripherals).some((each) => mayNeedApproval(tool, each)),
  };
}

const text = (description: string): Json => ({ type: 'string', description });

const EFFECT_WORDS: { readonly [effect in ToolEffect]: string } = {
  act: 'act',
  observe: 'look',
  simulate: 'simulate',
  coordinate: 'talk',
};

/** A mode in a few words, by the strongest of its effects and the approval that it needs. */
function modeInWords(modeGate: ModeGateSpec, mode: Mode): string {
  const effects = effectsOfMode(modeGate, mode);
  const strongest = (Object.keys(EFFECT_WORDS) as ToolEffect[]).find((effect) => effects.includes(effect));
  const transitions = modeGate.transitions.filter(({ to }) => to === mode);
  const approved = transitions.length > 0 && transitions.every(({ approval }) => approval !== null);
  return `${strongest ? EFFECT_WORDS[strongest] : 'no tools'}${approved ? '; needs an approval by the operator' : ''}`;
}

/** The text arguments of a mode change: the summary and the exit criteria. */
function modeTexts({ transitions }: ModeGateSpec) {
  const summed = [...new Set(transitions.flatMap(({ from, summary }) => (summary ? [from] : [])))].join(' or ');
  const approved = [...new Set(transitions.flatMap(({ to, approval }) => (approval ? [to] : [])))].join(' or ');
  return {
    summary: text(`What was done${summed === '' ? '' : `; needed to leave ${summed}`}.`),
    'exit-criteria': text(`The condition that ends ${approved || 'the mode'}.`),
  };
}

/** The control tools: `hop` and `mode` change the place of the session, `status` and `why` explain it. */
export function listControlTools(specs: SpecSet): readonly AgentTool[] {
  const control = (name: string, description: string, inputSchema: InputSchema): AgentTool => ({
    name,
    kind: 'control',
    description,
    inputSchema,
    effect: 'coordinate',
    mayNeedApproval: name === 'hop' || name === 'mode',
  });
  const { modeGate } = specs;
  const modes = modeGate ? listModesOfGate(modeGate) : [];
  const hop = control(
    'hop',
    'Leaves this peripheral for another (or enters the first one). "status" lists the possible hops.',
    schema(
      {
        to: { type: 'string', enum: Object.keys(specs.peripherals), description: 'The peripheral to enter.' },
        exit: text('The exit to take; may be left out if only one exit leads there.'),
        reason: text('Why, in a sentence.'),
        fruit: { type: 'object', description: 'The stated fields of the fruit of this visit, such as summary.' },
        ...(modeGate
          ? {
              mode: {
                type: 'string',
                enum: [...modes],
                description: 'Change to this mode first, through the required modes and with their approvals.',
              },
              ...modeTexts(modeGate),
            }
          : {}),
      },
      ['to', 'reason'],
    ),
  );
  const mode = (modeGate: ModeGateSpec) =>
    control(
      'mode',
      `Changes the mode: ${modes.map((each) => `${each} (${modeInWords(modeGate, each)})`).join(', ')}.`,
      schema(
        {
          to: { type: 'string', enum: [...modes], description: 'The mode to change to.' },
          reason: text('Why.'),
          ...modeTexts(modeGate),
        },
        ['to'],
      ),
    );
  const status = control(
    'status',
    'Describes where you are in this session and what you can do from here.',
    schema({}, []),
  );
  const why = control(
    'why',
    'Tells you if a tool call would be allowed here, or why not and what to do instead. Runs nothing.',
    schema({ tool: text('The tool.'), args: { type: 'object', description: 'Its arguments.' } }, ['tool']),
  );
  return [hop, ...(modeGate ? [mode(modeGate)] : []), status, why];
}

export function listAvailableTools(session: Session): readonly AgentTool[] {
  const here = session.available().tools.flatMap((id) => {
    const tool = session.tool(id);
    return tool ? [toAgentTool(tool, session.specs)] : [];
  });
  return [...here, ...listControlTools(session.specs)];
}

/**
 * The tools that only the sub-agents of the present peripheral may call. A client whose sub-agents share the connection
 * of their parent lists them too; a call of the parent itself is refused.
 */
export function listSubAgentTools({ specs, state }: Session): readonly AgentTool[] {
  const { delegates = [], tools = [] } = specs.peripherals[state.peripheral ?? ''] ?? {};
  const wider = delegates.flatMap(({ to, within }) => (within === 'own' ? (specs.peripherals[to]?.tools ?? []) : []));
  return [...new Set(wider)].flatMap((id) => {
    const tool = specs.tools[id];
    return tool && !tools.includes(id) ? [toAgentTool(tool, specs)] : [];
  });
}
