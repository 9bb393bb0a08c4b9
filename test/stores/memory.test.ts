import { memoryStore } from '../../src/stores/memory.ts';
import { describeEvidenceStore } from '../contracts/evidence-store.ts';

describeEvidenceStore('memory', async (clock) => ({ store: memoryStore({ clock }), cleanup: async () => {} }), {
  keeps: false,
});
