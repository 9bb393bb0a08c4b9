/**
 * The stages of the social pipeline in their order: the result of each in words, the input of the next one, and the
 * codes of its failures. The pipeline runs this list; its diagram is drawn from the list.
 */
export const SOCIAL_STAGES = [
  { id: 'presence', yields: 'a connected sender', failures: ['invalid-connection', 'unknown-sender', 'not-ready'] },
  { id: 'authenticate', yields: 'an address and a principal', failures: ['not-authenticated'] },
  { id: 'mode', yields: 'coordination or action', failures: ['invalid-message'] },
  {
    id: 'dispatch',
    yields: 'a message in an inbox',
    failures: [
      'unknown-recipient',
      'invalid-text',
      'id-reused',
      'mode-forbids',
      'clock-asks-nothing',
      'no-session',
      'sender-refused',
    ],
  },
  { id: 'validate', yields: 'an outcome', failures: ['missing-evidence'] },
  { id: 'persist', yields: 'a receipt', failures: ['not-kept'] },
] as const;

/** The failure of every stage whose store cannot be read or written. */
export const STORE_FAILED_CODE = 'store-failed';

export type SocialStageId = (typeof SOCIAL_STAGES)[number]['id'];
export type SocialFailureCode = (typeof SOCIAL_STAGES)[number]['failures'][number] | typeof STORE_FAILED_CODE;

export function pipelineDiagram(): string {
  const lines = SOCIAL_STAGES.flatMap(({ id, yields, failures }, at) => [
    `  ${id} --> ${SOCIAL_STAGES[at + 1]?.id ?? 'receipt'} : ${yields}`,
    `  ${id} --> failure : ${[...failures, STORE_FAILED_CODE].join(', ')}`,
  ]);
  return [
    'stateDiagram-v2',
    `  [*] --> ${SOCIAL_STAGES[0].id} : message`,
    ...lines,
    '  receipt --> [*]',
    '  failure --> [*]',
    '',
  ].join('\n');
}
