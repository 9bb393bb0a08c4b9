/** Context key: the agent named in the request's URL. */
export const AGENT_CONTEXT_KEY = 'hopgate.agent';

/** The part of the A2A library that a server needs. */
export type A2aSdk = typeof import('@a2a-js/sdk') &
  typeof import('@a2a-js/sdk/server') &
  Pick<typeof import('@a2a-js/sdk/errors'), 'PushNotificationNotSupportedError' | 'RequestMalformedError'>;

/** Loads the A2A library, which only a server with A2A clients needs. */
export async function loadA2aSdk(): Promise<A2aSdk> {
  const [model, server, errors] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/server'),
    import('@a2a-js/sdk/errors'),
  ]);
  const { PushNotificationNotSupportedError, RequestMalformedError } = errors;
  return { ...model, ...server, PushNotificationNotSupportedError, RequestMalformedError };
}
