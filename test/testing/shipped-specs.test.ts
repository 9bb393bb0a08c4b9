import { describeSpec } from '../../src/testing/describe-spec.ts';
import { isDeep } from '../depth.ts';

// The shipped specs, by the same call that users make. test/session/crash.test.ts kills sessions in `npm test`.
await describeSpec('default', { crashes: isDeep });
