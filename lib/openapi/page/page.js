/* global SwaggerUIBundle -- made by swagger-ui-bundle.js */

/** The operations that take an idempotency key, with the names of their headers. */
const keyed = [];

/** Removes the key headers from the document: the page sends a new key with each request. */
function takeKeys(document_) {
  for (const [path, operations] of Object.entries(document_.paths)) {
    const pattern = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+');
    for (const [method, operation] of Object.entries(operations)) {
      const header = (operation.parameters ?? []).find(one => one['x-idempotency-key']);
      if (!header) continue;
      operation.parameters = operation.parameters.filter(one => one !== header);
      const { replayedHeader } = header['x-idempotency-key'];
      keyed.push({
        method: method.toUpperCase(),
        pattern: new RegExp(`${pattern}$`),
        header: header.name,
        replayedHeader,
      });
    }
  }
  return document_;
}

function keyedOperation(method, url) {
  const { pathname } = new URL(url, location.href);
  return keyed.find(one => one.method === method.toUpperCase() && one.pattern.test(pathname));
}

/** `crypto.randomUUID` exists on secure pages only. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}

/** The request that is under way: the page sends one at a time. */
let sent;

function withKey(request) {
  const operation = request.loadSpec ? undefined : keyedOperation(request.method ?? 'GET', request.url);
  if (operation) {
    const key = newKey();
    request.headers[operation.header] = key;
    sent = { method: request.method, url: request.url, headers: { ...request.headers }, body: request.body };
    Object.assign(sent, { key, replayedHeader: operation.replayedHeader, started: performance.now() });
  } else sent = undefined;
  return request;
}

function shown(response) {
  if (sent && response.url === new URL(sent.url, location.href).href)
    list(sent, response.status, name => response.headers[name]);
  return response;
}

/** Adds a request to the list, with a button that sends it again. */
function list(request, status, headerOf) {
  const item = document.createElement('li');
  const isReplay = request.replayedHeader && headerOf(request.replayedHeader.toLowerCase()) === 'true';
  const ms = Math.round(performance.now() - request.started);
  const text = `${request.method} ${new URL(request.url, location.href).pathname}: ${status}, ${isReplay ? 'replayed' : 'first response'}, ${ms} ms, key `;
  const key = document.createElement('code');
  key.textContent = request.key;
  const again = document.createElement('button');
  again.type = 'button';
  again.textContent = 'Send again with the same key';
  again.addEventListener('click', () => sendAgain(request, again));
  item.append(text, key, again);
  document.getElementById('requests').append(item);
  document.getElementById('sent').hidden = false;
  item.scrollIntoView({ block: 'nearest' });
}

async function sendAgain(request, button) {
  button.disabled = true;
  const repeated = { ...request, started: performance.now() };
  try {
    const { method, headers, body } = request;
    const response = await fetch(request.url, { method, headers, body });
    await response.arrayBuffer();
    list(repeated, response.status, name => response.headers.get(name));
  } catch (error) {
    list(repeated, `no answer (${error.message})`, () => undefined);
  } finally {
    button.disabled = false;
  }
}

fetch('openapi.json')
  .then(response => response.json())
  .then(document_ => {
    document.title = document_.info.title;
    SwaggerUIBundle({
      spec: takeKeys(document_),
      dom_id: '#api',
      deepLinking: true,
      validatorUrl: null,
      requestInterceptor: withKey,
      responseInterceptor: shown,
    });
  })
  .catch(error => {
    document.getElementById('api').textContent = `The description of the API could not be read: ${error.message}`;
  });
