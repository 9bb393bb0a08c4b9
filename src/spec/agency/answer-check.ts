import { Ajv2020 } from 'ajv/dist/2020.js';
import { schemaRegex } from '../linear-regex.ts';
import type { Fields, Json } from '../types.ts';

/** Returns the problem of an answer; null if it fits. */
type AnswerCheck = (answer: Json) => string | null;

/**
 * Compiles the JSON Schema of an answer. Each call creates a compiler, because a compiler refuses a second schema with
 * the same `$id`.
 * @throws Error if it is not a JSON Schema of the draft 2020-12
 */
export function compileAnswerCheck(schema: Fields): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, code: { regExp: schemaRegex } });
  const validate = ajv.compile(schema);
  if ('$async' in validate) throw new Error('"$async" is not supported');
  return (answer) => (validate(answer) ? null : ajv.errorsText(validate.errors, { dataVar: 'the answer' }));
}
