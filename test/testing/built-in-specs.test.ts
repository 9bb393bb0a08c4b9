import { describeSpec } from '../../src/testing/describe-spec.ts';
import { isDeep } from '../depth.ts';

// The built-in specs, by the same call that users make. test/session/crash.test.ts kills sessions in `npm test`.
await describeSpec('default', { crashes: isDeep });
