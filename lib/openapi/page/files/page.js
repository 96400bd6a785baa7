/* global SwaggerUIBundle -- made by swagger-ui-bundle.js */

/** The key headers of operations that take one, by method and path. */
const keyHeaders = new Map();

/** Removes the key headers that the page fills from the document: it sends a new key with each request. */
function takeKeys(document_) {
  for (const [path, operations] of Object.entries(document_.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const header = (operation.parameters ?? []).find(one => one['x-idempotency-key']);
      if (!header) continue;
      const keyHeader = { name: header.name, ...header['x-idempotency-key'] };
      if (keyHeader.takesUuids) operation.parameters = operation.parameters.filter(one => one !== header);
      keyHeaders.set(`${method} ${path}`, keyHeader);
    }
  }
  return document_;
}

/** The key header of the operation that is executed. The address of its request may fit other operations, too. */
let keyHeader;

/** A plugin of Swagger UI. */
const watchOperations = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        executeRequest: execute => operation => {
          keyHeader = keyHeaders.get(`${operation.method} ${operation.pathName}`);
          return execute(operation);
        },
      },
    },
  },
});

/** Makes a UUID; `crypto.randomUUID` exists on secure pages only. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const digits = Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
  // RFC 9562, section 5.4: the version, 4, and the variant.
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}

/** The request that is under way: the page sends one at a time. */
let sent;

function withKey(request) {
  sent = undefined;
  if (!keyHeader || request.loadSpec) return request;
  const { name, takesUuids, replayedHeader } = keyHeader;
  if (takesUuids) request.headers[name] ??= newKey();
  // The user fills in the keys that the page cannot make, or leaves them out where the API does not need them.
  const key = request.headers[name];
  if (key === undefined) return request;
  sent = { method: request.method, url: request.url, headers: { ...request.headers }, body: request.body };
  Object.assign(sent, { key, replayedHeader, started: performance.now() });
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
  const { pathname } = new URL(request.url, location.href);
  const kind = isReplay ? 'replayed' : 'first response';
  const text = `${request.method} ${pathname}: ${status}, ${kind}, ${ms} ms, key `;
  const key = document.createElement('code');
  key.textContent = request.key;
  const again = document.createElement('button');
  again.type = 'button';
  again.textContent = 'Send again with the same key';
  again.addEventListener('click', () => sendAgain(request, again));
  item.append(text, key, again);
  document.getElementById('requests').append(item);
  document.getElementById('last').textContent = `${status}, ${kind}`;
  const panel = document.getElementById('sent');
  // On a phone, it would cover the answer.
  if (panel.hidden) panel.open = matchMedia('(min-width: 40rem)').matches;
  panel.hidden = false;
  if (panel.open) item.scrollIntoView({ block: 'nearest' });
}

async function sendAgain(request, button) {
  button.disabled = true;
  const repeated = { ...request, started: performance.now() };
  try {
    const { method, body } = request;
    const headers = new Headers(request.headers);
    // Only the browser can add the boundary, and it keeps a given content type as it is.
    if (body instanceof FormData) headers.delete('Content-Type');
    const response = await fetch(request.url, { method, headers, body });
    await response.arrayBuffer();
    list(repeated, response.status, name => response.headers.get(name));
  } catch (error) {
    list(repeated, `no answer (${error.message})`, () => undefined);
  } finally {
    button.disabled = false;
  }
}

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
      spec: takeKeys(document_),
      dom_id: '#api',
      deepLinking: true,
      validatorUrl: null,
      plugins: [watchOperations],
      requestInterceptor: withKey,
      responseInterceptor: shown,
    });
  })
  .catch(error => {
    document.getElementById('api').textContent = `The description of the API could not be read: ${error.message}`;
  });
