/* global SwaggerUIBundle -- made by swagger-ui-bundle.js */

/** In the place of this text, the page sends a new key. */
const NEW_KEY = 'a new UUID';

/** The headers that have keys, and for each the one that marks a replay. */
const replayedHeaders = new Map();

/** Offers a new key with each request, where the page can make one; the user fills in the others. */
function offerKeys(document_) {
  const operations = Object.values(document_.paths).flatMap(path => Object.values(path));
  for (const header of operations.flatMap(({ parameters = [] }) => parameters)) {
    const { takesUuids, replayedHeader } = header['x-idempotency-key'] ?? {};
    if (replayedHeader === undefined) continue;
    replayedHeaders.set(header.name, replayedHeader);
    // Browsers make UUIDs on pages of https and of localhost only.
    if (takesUuids && isSecureContext) Object.assign(header, { example: NEW_KEY, schema: { type: 'string' } });
  }
  return document_;
}

/** The last request with a key: the page sends one at a time. */
let sent;

function withKey(request) {
  const { method, url, headers, body } = request;
  const name = Object.keys(headers).find(one => replayedHeaders.has(one));
  if (headers[name] === NEW_KEY) headers[name] = crypto.randomUUID();
  const key = headers[name];
  const replayedHeader = replayedHeaders.get(name);
  sent = key && { method, url, headers: { ...headers }, body, key, replayedHeader, started: performance.now() };
  return request;
}

/** Says what came of a request. */
function show({ method, url, key, replayedHeader, started }, status, headers) {
  const isReplay = replayedHeader && headers[replayedHeader.toLowerCase()] === 'true';
  const ms = Math.round(performance.now() - started);
  const what = `${status}, ${isReplay ? 'replayed' : 'first response'}, ${ms} ms, key ${key}`;
  document.getElementById('answer').textContent = `${method} ${new URL(url, location.href).pathname}: ${what}`;
}

function shown(response) {
  document.getElementById('sent').hidden = !sent;
  if (sent) show(sent, response.status, response.headers);
  return response;
}

document.getElementById('close').addEventListener('click', () => {
  document.getElementById('sent').hidden = true;
});

document.getElementById('again').addEventListener('click', async ({ target }) => {
  target.disabled = true;
  const request = { ...sent, started: performance.now() };
  const { method, url, body } = request;
  const headers = new Headers(request.headers);
  // Only the browser can add the boundary, and it keeps a given content type as it is.
  if (body instanceof FormData) headers.delete('Content-Type');
  try {
    const response = await fetch(url, { method, headers, body });
    await response.arrayBuffer();
    show(request, response.status, Object.fromEntries(response.headers));
  } catch (error) {
    show(request, `no answer (${error.message})`, {});
  }
  target.disabled = false;
});

/** Leaves out the pattern of a text that has a format: of that of an e-mail address, Swagger UI makes kilobytes. */
function withoutPattern(_name, value) {
  if (typeof value?.pattern === 'string' && value.format) delete value.pattern;
  return value;
}

fetch('openapi.json')
  .then(response => response.text())
  .then(text => {
    const document_ = JSON.parse(text, withoutPattern);
    document.title = document_.info.title;
    SwaggerUIBundle({
      spec: offerKeys(document_),
      dom_id: '#api',
      deepLinking: true,
      // An example for each response would take several screens.
      defaultModelRendering: 'model',
      defaultModelExpandDepth: 0,
      defaultModelsExpandDepth: 0,
      validatorUrl: null,
      requestInterceptor: withKey,
      responseInterceptor: shown,
    });
  })
  .catch(error => {
    document.getElementById('api').textContent = `The description of the API could not be read: ${error.message}`;
  });
