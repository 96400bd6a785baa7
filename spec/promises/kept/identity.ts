import type { KeptPromise } from './kept-promise';

/** Which requests are one, and whose a response is. */
export const identity: readonly KeptPromise[] = [
  {
    promise: 'A method takes part: a PUT never replays a POST.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'the same response is never given to another > method',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: "const sent = [req.method ?? '', ",
      replace: 'const sent = [',
    },
  },
  {
    promise: 'Host and port take part.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'the same response is never given to another > host',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'return LOOPBACK.test(host) ? NO_ORIGIN : [protocol, host];',
      replace: "return LOOPBACK.test(host) ? NO_ORIGIN : [protocol, ''];",
    },
  },
  {
    promise: 'No client can forge the host where no proxy is trusted.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'host, which no client can forge where no proxy is trusted',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'canonicalHost(trusted ? forwarded :',
      replace: 'canonicalHost(forwarded !== undefined ? forwarded :',
    },
  },
  {
    promise: 'Behind a trusted proxy, the forwarded host and scheme take part.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'counts where the proxy is trusted, and only there',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'return LOOPBACK.test(host) ? NO_ORIGIN : [protocol, host];',
      replace: "return LOOPBACK.test(host) ? NO_ORIGIN : ['http', host];",
    },
  },
  {
    promise: 'A loopback host names no service: neither it nor its port takes part.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'is the same request under each of its names and ports',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'return LOOPBACK.test(host) ? NO_ORIGIN :',
      replace: "return host === 'localhost' ? NO_ORIGIN :",
    },
  },
  {
    promise: 'With ignoreHost, scheme, host and port take no part, and all the rest does.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'with ignoreHost, scheme, host and port take no part',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'if (ignoreHost) return NO_ORIGIN;',
      replace: "if (ignoreHost) return ['', req.headers.host ?? ''];",
    },
  },
  {
    promise: 'The mount of a router takes part.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'the same response is never given to another > router mount',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: "const { originalUrl = url, baseUrl = '' } = req as Partial<Request>;",
      replace: "const [originalUrl, baseUrl] = [url, ''];",
    },
  },
  {
    promise: 'A route value takes part, as it was sent.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'the same response is never given to another > route value',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'if (mark < 0) return [url, []];',
      replace: 'if (mark < 0) return [decodeURIComponent(url), []];',
    },
  },
  {
    promise: 'The path counts in its case.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'the case of the path',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'if (mark < 0) return [url, []];',
      replace: 'if (mark < 0) return [url.toLowerCase(), []];',
    },
  },
  {
    promise: 'The query takes part.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'the same response is never given to another > query',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: '[url.slice(0, mark), pairsInOrder(query) ?? [query]]',
      replace: '[url.slice(0, mark), []]',
    },
  },
  {
    promise: 'The names of a query count in any order.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'the order of query names',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'pairsInOrder(query) ?? [query]',
      replace: '[query]',
    },
  },
  {
    promise: 'The values of one name of a query count in their order.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'the order of the values of one query name',
    mutant: {
      file: 'lib/idempotency/identity/canonical.ts',
      find: 'rooted.sort((a, b) => inOrder(a.root, b.root))',
      replace: 'rooted.sort((a, b) => inOrder(JSON.stringify(a), JSON.stringify(b)))',
    },
  },
  {
    promise: 'No two different keys meet, whatever is in them.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'no two different requests meet > in their keys',
    mutant: {
      file: 'lib/idempotency/identity/key.ts',
      find: '  return key;\n',
      replace: "  return key.split(',', 1)[0] ?? key;\n",
    },
  },
  {
    promise: 'No two different requests meet because of text that cannot be decoded.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'text that cannot be decoded',
    mutant: {
      file: 'lib/idempotency/identity/canonical.ts',
      find: "const pairs = text.split('&', MOST_PAIRS + 1);",
      replace: "const pairs = text.replaceAll(/%[89a-f].|\\ufffd/gi, '%').split('&', MOST_PAIRS + 1);",
    },
  },
  {
    promise: 'No two different bodies meet in what an earlier parser has made of them.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'in what an earlier parser has made of them',
    mutant: {
      file: 'lib/idempotency/identity/canonical.ts',
      find: 'return `${value.length}"${value}`;',
      replace: "return '';",
    },
  },
  {
    promise: 'The last of many bytes counts.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'the last of many bytes',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: 'for await (const chunk of chunks) hash.update(chunk);',
      replace: 'for await (const chunk of chunks) hash.update(chunk.subarray(0, -1));',
    },
  },
  {
    promise: 'The media type of a body counts.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'the media type of the body',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: 'string[] => [type, ...Object.entries(parameters).sort().flat()]',
      replace: 'string[] => Object.entries(parameters).sort().flat()',
    },
  },
  {
    promise: 'The fields of a form count by name, in any order.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'the order of form names',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: "pairsInOrder((await bytes.all()).toString('latin1'))",
      replace: "[(await bytes.all()).toString('latin1')]",
    },
  },
  {
    promise: 'A multipart form with another boundary, or other bytes of the same size in a file, is a duplicate.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'of two multipart forms > is a duplicate',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: 'hash ?? (await bytesParts(bytes, mediaType))',
      replace: 'await bytesParts(bytes, mediaType)',
    },
  },
  {
    promise: "With sameBody: 'json', JSON that is written in another way is the same request.",
    spec: 'spec/idempotency/identity/body-parts.spec.ts',
    title: 'that is written in another way is the same request',
    mutant: {
      file: 'lib/idempotency/identity/canonical.ts',
      find: "while (digits[end - 1] === '0') end--;",
      replace: '',
    },
  },
  {
    promise: "With sameBody: 'json', JSON of another value is another request: all digits of its numbers count.",
    spec: 'spec/idempotency/identity/body-parts.spec.ts',
    title: 'that has another value is another request',
    mutant: {
      file: 'lib/idempotency/identity/canonical.ts',
      find: 'canonicalOf(parseExactly(text), walk)',
      replace: 'canonicalOf(JSON.parse(text), walk)',
    },
  },
  {
    promise: 'With includeFileContents, a file of other bytes, of equal name and size, is another request.',
    spec: 'spec/idempotency/identity/body-parts.spec.ts',
    title: 'with other bytes in a file of equal name and size',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: 'storage: measuring(withContents)',
      replace: 'storage: measuring(false)',
    },
  },
  {
    promise: 'A file of another name is another request.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'with another name, size, field or value, is not a duplicate',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: 'return [fieldname, originalname, ',
      replace: "return [fieldname, '', ",
    },
  },
  {
    promise: 'No key, a blank one, or two are 400, and nothing runs.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'gets 400, and nothing runs',
    mutant: {
      file: 'lib/idempotency/identity/key.ts',
      find: 'if (lines.length > 1)',
      replace: 'if (lines.length > 2)',
    },
  },
  {
    promise: 'Every text that is not blank is a key, quoted or not, and a replay names it as it was sent.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'is a key: one run, and a replay that names it as it was sent',
    mutant: {
      file: 'lib/idempotency/identity/key.ts',
      find: 'return STRING_ITEM.exec(value)?.[1]?.replace(',
      replace: "return STRING_ITEM.exec('')?.[1]?.replace(",
    },
  },
  {
    promise: 'A key that does not match keyPattern is 400, every time.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'that does not match keyPattern gets 400, every time',
    mutant: {
      file: 'lib/idempotency/identity/key.ts',
      find: 'key.search(pattern) < 0',
      replace: '!pattern.test(key)',
    },
  },
  {
    promise: 'Marker headers that a client sends have no effect.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'have no effect, in a request or in its duplicate',
    mutant: {
      file: 'lib/idempotency/mounted.ts',
      find: "const isOther = methods !== undefined && !methods.includes(req.method ?? '');",
      replace:
        "const isOther = 'idempotent-replayed' in req.headers || (methods !== undefined && !methods.includes(req.method ?? ''));",
    },
  },
  {
    promise: 'With whenKeyReused: reject, another request under a key is 422, before 409, and harms nothing.',
    spec: 'spec/idempotency/acceptance/identity.spec.ts',
    title: 'gets 422 while the original runs and after it, never 409, and harms nothing',
    mutant: {
      file: 'lib/idempotency/decide.ts',
      find: "return isSame ? answer : { kind: 'reused' };",
      replace: "return isSame || answer.kind === 'running' ? answer : { kind: 'reused' };",
    },
  },
  {
    promise: 'Callers with another id share no response.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'by default, a response is not shared where the callers have another',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: '[place, callerParts(caller, place)] as const',
      replace: '[place, callerParts(caller, place).slice(0, 1)] as const',
    },
  },
  {
    promise: 'The place of a caller, and the name of its id, count.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'by default, a response is not shared where the callers have another > place',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: '[place, callerParts(caller, place)] as const',
      replace: "['', callerParts(caller, place)] as const",
    },
  },
  {
    promise: 'Issuer, provider, tenant and organisation count.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'by default, a response is not shared where the callers have another > tenantId',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: 'return [...ids, ...named(REALMS, caller, place)];',
      replace: 'return ids;',
    },
  },
  {
    promise: 'req.auth and req.user both count where both are there.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'user behind one gateway',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: "'req.user': user };",
      replace: "'req.user': auth === undefined ? user : undefined };",
    },
  },
  {
    promise: 'A refreshed token is the same caller.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'by default, a response is shared where > the token was refreshed',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: 'const ids = named(CALLER_IDS, caller, place);',
      replace: "const ids = named([...CALLER_IDS, 'jti'], caller, place);",
    },
  },
  {
    promise: 'A caller without a readable id is an error that says to pass scope, and nothing runs.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'by default, the application is told to pass scope, and nothing runs, where a caller is',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: '? [] : refuseCaller(caller, place);',
      replace: '? [] : [];',
    },
  },
  {
    promise: 'A scope that returns no text is an error, and nothing runs.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'is an error, and nothing runs',
    mutant: {
      file: 'lib/idempotency/identity/caller.ts',
      find: "if (own === undefined || typeof own === 'string') return own;",
      replace: 'if (!(own instanceof Unreadable)) return own === undefined ? own : String(own);',
    },
  },
  {
    promise: 'Without a caller, Authorization and X-Api-Key tell requests apart.',
    spec: 'spec/idempotency/identity/credentials.spec.ts',
    title: 'a response to a request without a caller is not shared where the request has another',
    mutant: {
      file: 'lib/idempotency/identity/credentials.ts',
      find: 'if (apiKey !== undefined) hashes.push(`x-api-key:${sha256(String(apiKey))}`);',
      replace: '',
    },
  },
  {
    promise: 'A scheme that signs each request is an error that says to pass scope.',
    spec: 'spec/idempotency/identity/credentials.spec.ts',
    title: 'is an error that says to pass scope',
    mutant: {
      file: 'lib/idempotency/identity/credentials.ts',
      find: 'if (authorization !== undefined && SIGNED.test(authorization)) throw',
      replace: "if (authorization === 'signed' && SIGNED.test(authorization)) throw",
    },
  },
  {
    promise: 'The session of a cookie that was sent tells clients apart.',
    spec: 'spec/idempotency/sessions.spec.ts',
    title: 'each caller has a response',
    mutant: {
      file: 'lib/idempotency/identity/credentials.ts',
      find: 'if (session !== undefined) hashes.push(`session:${sha256(session)}`);',
      replace: 'if (session !== undefined) hashes.push();',
    },
  },
  {
    promise: 'Nothing is kept for a caller that appears behind the guard.',
    spec: 'spec/idempotency/identity/caller.spec.ts',
    title: 'gets its answer, which is never replayed',
    mutant: {
      file: 'lib/idempotency/run/run.ts',
      find: "if (this.exchange.callerHasAppeared()) return 'record';",
      replace: '',
    },
  },
  {
    promise: 'Two guards with different options on one request are an error, and nothing runs.',
    spec: 'spec/idempotency/mounted.spec.ts',
    title: 'are an error, and nothing runs',
    mutant: {
      file: 'lib/idempotency/mounted.ts',
      find: 'if (names.length === 0) return false;',
      replace: 'return names.length > 99;',
    },
  },
  {
    promise: 'Something else in req.idempotency is an error, never less protection.',
    spec: 'spec/idempotency/mounted.spec.ts',
    title: 'in req.idempotency are an error, and nothing runs',
    mutant: {
      file: 'lib/idempotency/mounted.ts',
      find: "if (set && !(typeof set === 'object' && UNGUARDED in set))",
      replace: "if (set && req.httpVersionMajor > 2 && !(typeof set === 'object' && UNGUARDED in set))",
    },
  },
  {
    promise: 'A host has one spelling: case, a trailing dot and the port of its scheme make no difference.',
    spec: 'spec/idempotency/identity/cache-key.spec.ts',
    title: 'one host in another spelling > is one run, and no other request with its key',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: "const host = canonicalHost(trusted ? forwarded : (req.headers.host ?? ''), protocol);",
      replace: "const host = (trusted ? forwarded : (req.headers.host ?? '')).toLowerCase();",
    },
  },
  {
    promise: 'Nothing is kept for a caller whose session is read behind the guard.',
    spec: 'spec/idempotency/sessions.spec.ts',
    title: 'the response to a caller whose session is read after idempotency() > is kept for no one',
    mutant: {
      file: 'lib/idempotency/identity/credentials.ts',
      find: "? isSent() : hasUnnamedSession(req, cookie)) ? 'a session' : undefined;",
      replace: '? isSent() : hasUnnamedSession(req, cookie)) ? undefined : undefined;',
    },
  },
  {
    promise: 'A session without an id, and its cookie, are an error that says to pass scope.',
    spec: 'spec/idempotency/sessions.spec.ts',
    title: 'the caller of one without an id is asked for',
    mutant: {
      file: 'lib/idempotency/identity/credentials.ts',
      find: 'else if (hasUnnamedSession(req, req.headers.cookie)) throw unnamedSession();',
      replace: '',
    },
  },
];
