import { readLiveViewScript } from '../../view/page-script.ts';
import { ApiError } from '../api-error.ts';
import { defineRoute, type HttpRoute } from '../http-route.ts';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>hopgate</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body><hopgate-view live></hopgate-view></body>
</html>
`;

const page = defineRoute('GET /', {
  id: 'page',
  summary: 'The live view. It holds no data: the sessions come from the other addresses, after a login.',
  for: 'public',
  answer: { type: 'text/html', description: 'A page for a browser.' },
  run: async () => new Response(PAGE, { headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
});

const script = defineRoute('GET /page.js', {
  id: 'pageScript',
  summary: 'The script of the live view.',
  for: 'public',
  answer: { type: 'text/javascript', description: 'One module without imports.' },
  run: async () => {
    const text = readLiveViewScript();
    if (text === null)
      throw new ApiError('not-found', 'this checkout has no built page', 'Run "npm run build", then reload it.');
    return new Response(text, { headers: { 'Content-Type': 'text/javascript; charset=utf-8' } });
  },
});

const style = defineRoute('GET /page.css', {
  id: 'pageStyle',
  summary: 'The style sheet of the page around the live view.',
  for: 'public',
  answer: { type: 'text/css', description: 'One rule.' },
  run: async () => new Response('body{margin:0}', { headers: { 'Content-Type': 'text/css; charset=utf-8' } }),
});

export const PAGE_ROUTES: readonly HttpRoute[] = [page, script, style];
