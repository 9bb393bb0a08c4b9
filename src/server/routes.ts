import { defineRoute, type HttpRoute } from './http-route.ts';
import { makeOpenApiDocument } from './openapi.ts';
import { A2A_ROUTES } from './routes/a2a.ts';
import { ABOUT_ROUTES } from './routes/about.ts';
import { ACTIVITY_ROUTES } from './routes/activity.ts';
import { AGENCY_ROUTES } from './routes/agency.ts';
import { APPROVAL_ROUTES } from './routes/approvals.ts';
import { EVENT_ROUTES } from './routes/events.ts';
import { EVIDENCE_ROUTES } from './routes/evidence.ts';
import { GRANT_ROUTES } from './routes/grants.ts';
import { MESSAGE_ROUTES } from './routes/messages.ts';
import { PAGE_ROUTES } from './routes/page.ts';
import { CALL_ROUTES } from './routes/session-calls.ts';
import { SESSION_MESSAGE_ROUTES } from './routes/session-messages.ts';
import { SESSION_ROUTES } from './routes/sessions.ts';
import { SOCIAL_ROUTES } from './routes/social.ts';
import { VIEW_ROUTES } from './routes/view.ts';

export const ROUTES: readonly HttpRoute[] = [
  ...ABOUT_ROUTES,
  ...SESSION_ROUTES,
  ...CALL_ROUTES,
  ...EVIDENCE_ROUTES,
  ...APPROVAL_ROUTES,
  ...GRANT_ROUTES,
  ...ACTIVITY_ROUTES,
  ...VIEW_ROUTES,
  ...EVENT_ROUTES,
  ...MESSAGE_ROUTES,
  ...SESSION_MESSAGE_ROUTES,
  ...SOCIAL_ROUTES,
  ...AGENCY_ROUTES,
  ...A2A_ROUTES,
  ...PAGE_ROUTES,
  defineRoute('GET /v1/openapi.json', {
    id: 'openapi',
    summary: 'This description, as OpenAPI 3.1.',
    for: 'public',
    answer: { type: 'application/json', description: 'An OpenAPI document.' },
    run: async ({ services }) => Response.json(makeOpenApiDocument(ROUTES, services.version)),
  }),
];
