import { pendingApprover } from '../../src/operator/pending-approver.ts';
import { requestOf } from './request.ts';

/** Makes the same request once for each line of input: `node consume.ts STATE_DIR`. Prints each result. */
const [stateDir] = process.argv.slice(2);
if (stateDir === undefined) throw new Error('name a state folder');
const approver = pendingApprover({ stateDir, root: '/repo' });
process.on('message', async () => {
  const answer = await approver.approve(requestOf());
  process.send?.(answer && 'by' in answer ? 'given' : 'not given');
});
process.send?.('ready');
