import { describeSpec } from '../../src/testing/describe-spec.ts';

// The shipped specs, by the same call that users make.
await describeSpec('default');
