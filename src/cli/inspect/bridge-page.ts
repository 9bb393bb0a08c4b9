/** The inspector's page. Messages are sent only to its origin. */
const INSPECTOR = 'https://stately.ai/inspect';

/**
 * The page that shows the Stately inspector in a frame. It forwards the messages of the WebSocket after the frame
 * reports that it is ready. Unlike the bridge of `@statelyai/inspect`, it sends messages only to the inspector's
 * origin.
 */
export function renderInspectorPage(
  nonce: string,
  inspector = INSPECTOR,
): { readonly html: string; readonly policy: string } {
  const origin = new URL(inspector).origin;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>hopgate: the inspector</title>
<style nonce="${nonce}">html,body{margin:0;height:100%}iframe{border:0;width:100%;height:100%}</style>
</head>
<body>
<iframe id="inspector" title="Stately inspector" src="${inspector}"></iframe>
<script nonce="${nonce}">
const frame = document.getElementById('inspector');
const waiting = [];
let connected = false;
const give = (message) => frame.contentWindow.postMessage(message, '${origin}');
window.addEventListener('message', ({ source, origin, data }) => {
  if (source !== frame.contentWindow || origin !== '${origin}' || data?.type !== '@statelyai.connected') return;
  connected = true;
  for (const message of waiting.splice(0)) give(message);
});
new WebSocket('ws://' + location.host + '/').onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (connected) give(message);
  else waiting.push(message);
};
</script>
</body>
</html>
`;
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; frame-src ${origin}; connect-src 'self' ws:; base-uri 'none'; frame-ancestors 'none'`;
  return { html, policy };
}
