/** The name of the agent in a call's context; the address of the request names it. */
export const ROUTE_AGENT = 'hopgate.agent';

/** Loads the A2A library, which only a server with A2A clients needs. */
export async function loadA2aSdk() {
  const [model, server, errors] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/server'),
    import('@a2a-js/sdk/errors'),
  ]);
  const { PushNotificationNotSupportedError, RequestMalformedError } = errors;
  return { ...model, ...server, PushNotificationNotSupportedError, RequestMalformedError };
}
export type A2aSdk = Awaited<ReturnType<typeof loadA2aSdk>>;
