import type { KeptPromise } from './kept-promise';

/** That a request stays readable, and how one is refused. */
export const requests: readonly KeptPromise[] = [
  {
    promise: 'A handler, or a parser, behind idempotency() gets its body, however and wherever it is mounted.',
    spec: 'spec/idempotency/acceptance/express.spec.ts',
    title: 'the handler gets its body, and runs once',
    mutant: {
      file: 'lib/body/stream/received.ts',
      find: '      req.unshift(bytes);\n',
      replace: '',
    },
  },
  {
    promise: 'A handler gets a body that is on disk meanwhile, too.',
    spec: 'spec/idempotency/acceptance/express.spec.ts',
    title: 'express.json of what is on disk meanwhile',
    mutant: {
      file: 'lib/body/stream/received.ts',
      find: '        req.unshift(piece.subarray(0, length));\n',
      replace: '',
    },
  },
  {
    promise: 'Of a body that was read before, what was left counts: rawBody, or bytes, text or JSON in body.',
    spec: 'spec/body/receive.spec.ts',
    title: 'a body that an earlier middleware has read > counts by',
    mutant: {
      file: 'lib/body/left-behind.ts',
      find: "if (bytes) return { kind: 'bytes', bytes: BodyBytes.of(bytes), coding: undefined };",
      replace: "if (bytes) return { kind: 'none' };",
    },
  },
  {
    promise:
      'A body that was read before, and of which nothing is left, is an error that says what to do, never an empty body.',
    spec: 'spec/body/receive.spec.ts',
    title: 'and of which nothing is left is an error that says what to do, never an empty body',
    mutant: {
      file: 'lib/body/receive.ts',
      find: 'if (left) return within(left);',
      replace: "return left ? within(left) : { kind: 'none' };",
    },
  },
  {
    promise: 'The files that multer has left in front count by field, name and size.',
    spec: 'spec/idempotency/identity/body-parts.spec.ts',
    title: 'has left > is another request',
    mutant: {
      file: 'lib/idempotency/identity/body-parts.ts',
      find: 'received.files.length > 0 ?',
      replace: 'received.files.length > 99 ?',
    },
  },
  {
    promise: 'A form behind idempotency() is bound by bindRequest(), small or large.',
    spec: 'spec/body/receive.spec.ts',
    title: 'is bound by bindRequest()',
    mutant: {
      file: 'lib/body/receive.ts',
      find: 'if (known) return after(known, within);',
      replace: "if (known) return { kind: 'none' };",
    },
  },
  {
    promise: 'With ignoreRequestBody, a handler gets the first bytes of an upload before the last are sent.',
    spec: 'spec/idempotency/ignore-request-body.spec.ts',
    title: 'the handler gets the first bytes of an upload before the last are sent',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'options.ignoreRequestBody ? head :',
      replace: "options.ignoreRequestBody && req.method === 'GET' ? head :",
    },
  },
  {
    promise: 'With ignoreRequestBody, 1 GB passes through in constant memory.',
    spec: 'spec/idempotency/acceptance/bounds.spec.ts',
    title: '1 GB passes through',
    mutant: {
      file: 'lib/idempotency/identity/cache-key.ts',
      find: 'options.ignoreRequestBody ? head :',
      replace: "options.ignoreRequestBody && req.method === 'GET' ? head :",
    },
  },
  {
    promise: 'A body over maxRequestBytes is a 413 that the client can read.',
    spec: 'spec/body/receive.spec.ts',
    title: 'is refused with 413, and the client can read the answer',
    mutant: {
      file: 'lib/problems/catalogue.ts',
      find: "'body-too-large': { status: 413,",
      replace: "'body-too-large': { status: 400,",
    },
  },
  {
    promise: 'A request that is refused before its handler stores nothing: the corrected one runs under the same key.',
    spec: 'spec/binding/acceptance/behind-idempotency.spec.ts',
    title: 'is refused each time it comes, and a corrected request with the same key runs once',
    mutant: { file: 'lib/idempotency/run/request-idempotency.ts', find: '    this.forget();\n', replace: '' },
  },
  {
    promise: 'Every refusal is a problem in JSON with type, title, status, detail and instance.',
    spec: 'spec/idempotency/acceptance/refusals.spec.ts',
    title: 'is a problem in JSON, with type, title, status, detail and instance',
    mutant: { file: 'lib/problems/answer.ts', find: 'error.toBody(pathOf(req))', replace: 'error.toBody(req.url)' },
  },
  {
    promise: 'onProblem takes over the answers of both middlewares.',
    spec: 'spec/problems/problem-details.spec.ts',
    title: 'takes over the answers of both middlewares',
    mutant: {
      file: 'lib/problems/answer.ts',
      find: '    else if (onProblem) {',
      replace: '    else if (onProblem && res.headersSent) {',
    },
  },
  {
    promise: 'Every failure of every source is in one answer, without a stack trace.',
    spec: 'spec/binding/reading/failures.spec.ts',
    title: 'every failure of every source is in one answer, each under the name it was looked up under',
    mutant: {
      file: 'lib/problems/problem.ts',
      find: '...(this.errors && { errors: this.errors }),',
      replace: '...(this.errors && { errors: this.errors.slice(0, 1) }),',
    },
  },
  {
    promise: 'A malformed form is 400, and no file stays.',
    spec: 'spec/binding/input/uploads.spec.ts',
    title: 'files on disk are gone when a client is refused > no closing boundary',
    mutant: {
      file: 'lib/problems/catalogue.ts',
      find: "'body-malformed': { status: 400,",
      replace: "'body-malformed': { status: 500,",
    },
  },
  {
    promise: 'jsonField takes nothing from the URL, nested or not.',
    spec: 'spec/binding/acceptance/body-only.spec.ts',
    title: 'jsonField is not taken from JSON text in the query',
    mutant: {
      file: 'lib/binding/declaration/codec-table.ts',
      find: "spec.kind === 'jsonField' ? NOT_JSON : (spec.dontBind ?? [])",
      replace: 'spec.dontBind ?? []',
    },
  },
  {
    promise: 'fieldSources says where a bare type comes from, and nothing else changes it.',
    spec: 'spec/binding/acceptance/body-only.spec.ts',
    title: 'fieldSources of the endpoint > does not change what the JSON body says',
    mutant: {
      file: 'lib/binding/plan/source-properties.ts',
      find: 'return FIELD_SOURCES.filter(source => defaults.fieldSources.includes(source));',
      replace: 'return FIELD_SOURCES;',
    },
  },
  {
    promise: 'With fallback: false, no client can send a claim, header or cookie elsewhere.',
    spec: 'spec/binding/acceptance/body-only.spec.ts',
    title: 'false: what a client sends in > is nobody',
    mutant: {
      file: 'lib/binding/plan/source-properties.ts',
      find: 'fallback = defaults.fallback }',
      replace: 'fallback = true }',
    },
  },
  {
    promise: 'A required claim that is an empty array is missing.',
    spec: 'spec/binding/acceptance/claims-and-headers.spec.ts',
    title: 'a claim that is an empty array is missing, and no value that the client sends replaces it',
    mutant: {
      file: 'lib/binding/sources/order.ts',
      find: '(readNothing(property, at, claim.missing) ?? INVALID)',
      replace: 'INVALID',
    },
  },
  {
    promise: 'A missing permission is 400, and listed.',
    spec: 'spec/binding/acceptance/permissions.spec.ts',
    title: 'is a 400 that lists it when the principal lacks it',
    mutant: {
      file: 'lib/binding/sources/order.ts',
      find: 'put(property, isRefused ? at.failMissing(permission.missing) : held.has(name));',
      replace: 'put(property, held.has(name));',
    },
  },
  {
    promise: 'A signed cookie is what cookie-parser has verified, and comes from nowhere else.',
    spec: 'spec/binding/acceptance/cookies.spec.ts',
    title: 'is missing, and comes from nowhere else',
    mutant: {
      file: 'lib/binding/sources/order.ts',
      find: 'spec.signed ? signedText(req, name) : cookieText(cookies[name])',
      replace: 'cookieText(cookies[name])',
    },
  },
  {
    promise: 'An error that is not exposed has no text in its problem; one of another service, none of its objects.',
    spec: 'spec/problems/problem-details.spec.ts',
    title: 'of another service, without objects that may hold credentials',
    mutant: {
      file: 'lib/problems/problem-details.ts',
      find: '(expose === true || PRIMITIVE.includes(typeof value))',
      replace: 'value !== undefined',
    },
  },
];
