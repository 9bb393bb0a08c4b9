import { AGENCY_TOOL_ID } from './tool-ids.ts';

/** The tools whose calls have a tag of their own, so that a query finds them by kind. */
export const EVIDENCE_TAG_BY_TOOL: { readonly [tool: string]: string } = {
  'alfworld-action': 'alfworld-step',
  [AGENCY_TOOL_ID]: AGENCY_TOOL_ID,
  bell: 'bell',
  whistle: 'whistle',
};
