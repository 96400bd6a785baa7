import type { IdempotentRequestInit } from '../../lib/client';
import { answer, client, payment, service, Shelf } from './service';

type Sent = IdempotentRequestInit & { readonly path?: string };

/** Sends a first request that is not answered for now, and a second one. @returns whether both have the same key. */
async function isOneOperation(first: Sent, second: Sent, options = {}): Promise<boolean> {
  const { url, keys } = await service([answer(503, { 'Retry-After': '3600' }), answer(201)]);
  const pay = client(options);
  await expect(pay(`${url}${first.path ?? ''}`, first)).rejects.toMatchObject({ code: 'gave-up' });
  await pay(`${url}${second.path ?? ''}`, second);
  return keys[0] === keys[1];
}

const form = (...entries: [string, string | Blob, string?][]): FormData => {
  const made = new FormData();
  for (const entry of entries.map(given => given.filter(one => one !== undefined)))
    made.append(...(entry as [string, Blob, string]));
  return made;
};
/** A file that a user has chosen with its folder. */
const inFolder = (folder: string): File =>
  Object.defineProperty(new File(['x'], 'a.txt'), 'webkitRelativePath', { value: `${folder}/a.txt` });
const post = (body: IdempotentRequestInit['body'], headers: Record<string, string> = {}): IdempotentRequestInit => ({
  method: 'POST',
  ...(body !== undefined && { body }),
  headers,
});

const typed = (type: string, body: IdempotentRequestInit['body'] = 'a') => post(body, { 'Content-Type': type });
const ofFile = (content: string, name: string) => post(form(['a', new Blob([content]), name]));

describe('two requests without the name of an operation', () => {
  it.each<[string, Sent, Sent]>([
    ['text and the same bytes', typed('a/b'), typed('a/b', new TextEncoder().encode('a'))],
    ['parameters', post(new URLSearchParams({ a: '1' })), post(new URLSearchParams({ a: '1' }))],
    ['a Blob', post(new Blob(['a'], { type: 'a/b' })), post(new Blob(['a'], { type: 'a/b' }))],
    ['forms with a file, each with a boundary of its own', ofFile('x', 'f'), ofFile('x', 'f')],
    ['methods in other case', { ...post('a'), method: 'post' }, post('a')],
    ['another fragment', { ...post('a'), path: '#a' }, { ...post('a'), path: '#b' }],
    ['headers that are not chosen', post('a', { 'X-Trace': '1' }), post('a', { 'X-Trace': '2' })],
  ])('are one operation if they are equal: %s', async (_title, first, second) => {
    expect(await isOneOperation(first, second)).toBe(true);
  });

  it.each<[string, Sent, Sent, object?]>([
    ['body', post('a'), post('b')],
    ['method', post('a'), { ...post('a'), method: 'PUT' }],
    ['path', { ...post('a'), path: '/1' }, { ...post('a'), path: '/2' }],
    ['query', { ...post('a'), path: '?a=1' }, { ...post('a'), path: '?a=2' }],
    ['media type', typed('a/b'), typed('a/c')],
    ['field', post(form(['a', '1'])), post(form(['a', '2']))],
    ['name of a field', post(form(['a', '1'])), post(form(['b', '1']))],
    ['file', ofFile('x', 'f'), ofFile('y', 'f')],
    ['name of a file', ofFile('x', 'f'), ofFile('x', 'g')],
    ['folder of a file', post(form(['a', inFolder('one'), undefined])), post(form(['a', inFolder('two'), undefined]))],
    ['body that is there', post('a'), post(undefined)],
    ['chosen header', post('a', { 'X-T': '1' }), post('a', { 'X-T': '2' }), { additionalHeaders: ['x-t'] }],
  ])('are two operations if they differ: %s', async (...[, first, second, options]) => {
    expect(await isOneOperation(first, second, options)).toBe(false);
  });
});

describe.each([
  ['attempt', [503, 503]],
  ['end of a redirect', [307, 308]],
] as const)('every %s gets the whole body, with its type', (_which, statuses) => {
  it.each<[string, () => IdempotentRequestInit['body'], string | undefined, RegExp]>([
    ['text', () => 'ü: 1 €', 'text/plain;charset=UTF-8', /^ü: 1 €$/],
    ['empty text', () => '', 'text/plain;charset=UTF-8', /^$/],
    [
      'parameters',
      () => new URLSearchParams({ a: 'b c' }),
      'application/x-www-form-urlencoded;charset=UTF-8',
      /^a=b\+c$/,
    ],
    ['bytes', () => new TextEncoder().encode('abc').subarray(1), undefined, /^bc$/],
    ['a Blob', () => new Blob(['a'], { type: 'a/b' }), 'a/b', /^a$/],
    ['a Blob without a type', () => new Blob(['a']), undefined, /^a$/],
    [
      'a form',
      () => form(['a', '1'], ['f', new Blob(['x']), 'n']),
      'multipart/form-data; boundary=',
      /name="a"\r\n\r\n1\r\n[^]*filename="n"[^]*\r\n\r\nx\r\n/,
    ],
  ])('%s', async (_title, body, type, content) => {
    const sent: object[] = [];
    const { url } = await service(
      [...statuses, 201].map(status => (req, res) => {
        void new Response(req as never).text().then(text => {
          sent.push({ key: req.get('Idempotency-Key'), type: req.headers['content-type'], text });
          res.status(status).location('/elsewhere').end();
        });
      }),
    );
    const { key } = await client()(url, { method: 'POST', body: body() ?? null });
    const sentType = type === undefined ? undefined : (expect.stringContaining(type) as string);
    expect(sent[0]).toEqual({ key, type: sentType, text: expect.stringMatching(content) as string });
    // With one boundary, too: a server may compare the bytes.
    expect(sent).toEqual([sent[0], sent[0], sent[0]]);
  });
});

it('every attempt sends what the call was given, whatever becomes of it afterwards', async () => {
  const bytes = new TextEncoder().encode('{"amount":1}');
  const url = new URL('http://shop/payments');
  const headers = new Headers({ 'X-Tenant': '1' });
  const init = { method: 'POST', body: bytes as BodyInit, headers, operation: 'cart 42' };
  const storage = new Shelf();
  const sent: unknown[] = [];
  const pay = client({
    storage,
    fetch: async (target, { method, body, headers: own } = {}) => {
      const tenant = new Headers(own).get('X-Tenant');
      sent.push([target, method, await new Response(body).text(), tenant, ...storage.items.keys()]);
      return new Response(null, { status: sent.length === 1 ? 503 : 201 });
    },
  });
  const paid = pay(url, init);
  bytes.fill(0);
  url.pathname = '/refunds';
  headers.set('X-Tenant', '2');
  Object.assign(init, { method: 'PUT', body: 'other', operation: 'cart 43' });
  await paid;
  const first = ['http://shop/payments', 'POST', '{"amount":1}', '1', 'bindonce:operation:cart 42'];
  expect(sent).toEqual([first, first]);
});

describe('before the first attempt, there is an error for', () => {
  const shop = 'http://shop/';
  const twice = (kind: string): string => `a body of the kind ${kind} cannot be sent twice`;

  it.each<[string, unknown, string, (string | URL | Request)?]>([
    ['a stream', { method: 'POST', body: new ReadableStream(), duplex: 'half' }, twice('ReadableStream')],
    ['an iterator', { method: 'POST', body: (async function* () {})() }, twice('AsyncGenerator')],
    ['an object', { method: 'POST', body: { amount: 1 } }, `${twice('Object')}. Pass text (JSON.stringify of an`],
    ['a form of another runtime', { method: 'POST', body: { [Symbol.toStringTag]: 'FormData' } }, twice('FormData')],
    ['a Request', {}, 'pass the parts of a Request one by one', new Request(shop)],
    ['a Request as the rest', new Request(shop, { method: 'POST' }), 'pass the parts of a Request one by one'],
    ['a method as the rest', 'POST', 'it takes a URL, as a string or a URL, and an object with the rest'],
    ['a key in the headers', { headers: { 'idempotency-key': 'k' } }, 'it sets Idempotency-Key itself; pass the'],
    ['a key for an operation', { operation: 'cart 42', key: 'order-42' }, 'pass `operation` or `key`, not both. With'],
    ['a key that no header can carry', { key: 'a\nb' }, 'a\nb'],
    ['a GET with a body', { body: 'a' }, 'body'],
    ['an invalid URL', {}, 'URL', 'http://'],
    ...['', ' ', null].map((key): [string, unknown, string] => [
      `a key that others would share: ${JSON.stringify(key)}`,
      { key },
      `idempotentFetch: key must be text that is not blank, not ${JSON.stringify(key)}`,
    ]),
    ['an operation that is no text', { operation: { id: 42 } }, 'operation must be text that is not blank, not an'],
    ['a controller', { signal: new AbortController() }, 'must be an instance of AbortSignal'],
    ["mode 'no-cors'", { ...payment(), mode: 'no-cors' }, "with mode 'no-cors', the browser sends no key and shows"],
    ['an invalid header', { headers: { 'a b': 'c' } }, 'a b'],
  ])('%s', async (...[, init, message, url = shop]) => {
    const storage = new Shelf();
    const fetch = jest.fn();
    const error: unknown = await client({ storage, fetch })(url as string, init as IdempotentRequestInit).catch(
      (thrown: unknown) => thrown,
    );
    expect((error as Error).name).toBe('TypeError');
    expect((error as Error).message).toContain(message);
    expect([fetch.mock.calls, storage.items.size]).toEqual([[], 0]);
  });

  it('a page without crypto.subtle, unless the application keeps the key', async () => {
    const { url } = await service();
    const subtle = jest.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never);
    try {
      await expect(client()(url, payment())).rejects.toThrow('idempotentFetch: crypto.subtle is missing');
      expect((await client()(url, { ...payment(), key: 'order-42' })).response.status).toBe(201);
    } finally {
      subtle.mockRestore();
    }
  });
});
