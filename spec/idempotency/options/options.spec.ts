import Keyv from 'keyv';
import { configure, guid, idempotency, memoryLeases, type IdempotencyOptions } from '../../../lib';
import { describe as shown } from '../../../lib/options/check';

const MILLISECONDS = 'a whole number of milliseconds from 1 to 2147483647';
const COUNT = 'a whole number above zero';
const FLAG = 'true or false';
const FUNCTION = 'a function';

/** For each option: what it must be, values that are that, and values that are not. */
const table: Record<keyof IdempotencyOptions, [expects: string, accepted: unknown[], refused: unknown[]]> = {
  headerName: ['an HTTP header name', ['X-Key', 'x'], ['', 'X Key', 'Ü', 'a:', 1, null]],
  additionalHeaders: [
    'an array of HTTP header names',
    [[], ['X-A', 'x-b'], Object.freeze(['X-A'])],
    ['X-A', ['X A'], [1], {}],
  ],
  whenKeyMissing: ['"reject" or "run"', ['reject', 'run'], ['ignore', false]],
  methods: [
    "an array of HTTP methods, for example ['POST', 'PATCH']",
    [['POST'], ['post', 'PATCH', 'PROPFIND']],
    ['POST', [], ['PSOT'], [1], {}],
  ],
  ignoreHost: [FLAG, [true, false], ['true', 1]],
  ignoreRequestBody: [FLAG, [true, false], ['true', null]],
  sameBody: ['"bytes" or "json"', ['bytes', 'json'], ['value', true]],
  includeFileContents: [FLAG, [true, false], [1]],
  cacheDuration: [
    'a whole number of milliseconds from 1 to 315360000000 (ten years)',
    [1, 86_400_000, 31_536_000_000],
    [0, -1, 1.5, NaN, Infinity, 315_360_000_001, '10m', '1000', 1n],
  ],
  swaggerHeaderDescription: ['text', ['', 'A key.'], [1]],
  swaggerExampleGenerator: [FUNCTION, [() => 'abc'], ['abc']],
  swaggerHeaderType: ['a type, for example guid', [guid, class {}], ['guid']],
  addHeaderToResponse: [FLAG, [true, false], ['yes', 0]],
  store: ['a Keyv, for example new Keyv(adapter)', [new Keyv()], [new Map(), 'redis://localhost', null, {}]],
  leases: [
    'a LeaseStore, which memoryLeases(), redisLeases() and postgresLeases() return when they are called',
    [memoryLeases()],
    [{}, memoryLeases, { acquire: () => undefined }],
  ],
  scope: [FUNCTION, [() => undefined], ['tenant', {}]],
  whenInFlight: ['"wait" or "reject"', ['wait', 'reject'], ['run', true, '']],
  waitTimeout: [MILLISECONDS, [1, 5_000], [0, '5s', -5]],
  whenKeyReused: ['"run" or "reject"', ['run', 'reject'], ['wait', false]],
  whenStoreFails: ['"reject" or "run"', ['reject', 'run'], ['open']],
  // 'refuse' needs another store: spec/idempotency/acceptance/unknown-outcomes.spec.ts
  whenOwnerDies: ['"run" or "refuse"', ['run'], ['reject', true]],
  storeTimeout: [MILLISECONDS, [1, 100], [0, Infinity]],
  leaseDuration: [MILLISECONDS, [1, 30_000], [0, 0.5]],
  shouldCache: [FUNCTION, [() => true], [true, [200]]],
  replayedHeader: ['an HTTP header name, or false', ['X-Again', false], [true, '', 'X Again', null]],
  keyPattern: ['a regular expression', [/^.+$/], ['^.+$', {}]],
  maxRequestBytes: [COUNT, [1, 2 ** 40], [0, -1, '10mb', Infinity]],
  maxResponseBytes: [COUNT, [1, 63_963_136], [0, 1.5, NaN]],
  onEvent: [FUNCTION, [() => undefined], [{}, 'log']],
  telemetry: ['true or false, or an object', [true, { meter: undefined }], ['yes', 1]],
};

const names = Object.keys(table) as (keyof IdempotencyOptions)[];
const accepted = names.flatMap(name => [...table[name][1], undefined].map(value => ({ name, value })));
const refused = names.flatMap(name =>
  table[name][2].map(value => ({
    name,
    value,
    message: `idempotency: ${name} must be ${table[name][0]}, not ${shown(value)}`,
  })),
);

describe('an option', () => {
  it.each(accepted)('$name may be $value', ({ name, value }) => {
    expect(idempotency({ [name]: value })).toBeInstanceOf(Function);
  });

  it.each(refused)('$name is refused when the middleware is made: $message', ({ name, value, message }) => {
    expect(() => idempotency({ [name]: value })).toThrow(new TypeError(message));
    expect(() => configure({ idempotency: { [name]: value } as IdempotencyOptions })).toThrow(new TypeError(message));
  });

  it.each([
    ['header-name', 'headerName'],
    ['cacheDuraton', 'cacheDuration'],
    ['lease', 'leases'],
    ['Store', 'store'],
  ])('%p is not an option, and %p is suggested', (name, meant) => {
    expect(() => idempotency({ [name]: undefined } as IdempotencyOptions)).toThrow(
      new TypeError(`idempotency: there is no option "${name}"; did you mean "${meant}"?`),
    );
  });

  it.each(['ttl', 'redis', '', '__proto__x', 'constructor', 'toString', 'hasOwnProperty'])(
    '%p is no option, and all that there are are named',
    name => {
      expect(() => idempotency(Object.fromEntries([[name, 1]]) as IdempotencyOptions)).toThrow(
        `idempotency: there is no option ${JSON.stringify(name)}; there are: headerName, additionalHeaders, `,
      );
    },
  );

  it('maxResponseBytes may be what the default store can hold, and with a store any number', () => {
    const options = { maxResponseBytes: 63_963_137 };
    const error =
      'idempotency: maxResponseBytes must be at most 63963136 without a store, not 63963137, because the default store holds 64 MiB in all. Lower it, or pass a store.';
    const configured = configure({ idempotency: options });
    for (const make of [
      () => idempotency(options),
      () => configured.idempotency(),
      () => configure().idempotency(options),
    ])
      expect(make).toThrow(new TypeError(error));
    expect(configured.idempotency({ store: new Keyv() })).toBeInstanceOf(Function);
  });

  it('the header of the key cannot mark replays, too', () => {
    expect(() => idempotency({ headerName: 'X-Key', replayedHeader: 'x-key' })).toThrow(
      new TypeError('idempotency: headerName and replayedHeader must be two headers, not both X-Key'),
    );
  });

  it.each<[IdempotencyOptions, RegExp]>([
    [{ headerName: '__PROTO__' }, /headerName must be an HTTP header name, not "__PROTO__"/],
    [{ additionalHeaders: ['X-A', '__proto__'] }, /additionalHeaders must be an array of HTTP header names, not /],
  ])('that names the header __proto__, which node loses, is refused: %p', (options, error) => {
    expect(() => idempotency(options)).toThrow(error);
    expect(() => configure().idempotency(options)).toThrow(error);
  });

  it.each<['headerName' | 'replayedHeader', string, string]>([
    ['headerName', 'Authorization', 'Idempotency-Key'],
    ['headerName', 'X-API-Key', 'Idempotency-Key'],
    ['headerName', 'Content-Type', 'Idempotency-Key'],
    ['replayedHeader', 'Content-Length', 'Idempotent-Replayed'],
    ['replayedHeader', 'Set-Cookie', 'Idempotent-Replayed'],
  ])('whose %s is %s, which is used for something else, is refused', (name, value, example) => {
    const error = new TypeError(
      `idempotency: ${name} cannot be ${value}, because clients and servers use that header for something else. ` +
        `Choose another, for example ${example}.`,
    );
    expect(() => idempotency({ [name]: value })).toThrow(error);
    expect(() => configure().idempotency({ [name]: value })).toThrow(error);
  });
});

it.each([
  ['text', 'redis://user:secret@localhost:6379'],
  ['uri', { uri: 'redis://localhost:6379' }],
  ['url', { adapter: 'redis', url: 'redis://localhost:6379' }],
])(
  'a Keyv that ignores the address it was given as %s is refused: it is the memory of this process',
  (_what, given) => {
    const store = new Keyv(given as never);
    expect(() => idempotency({ store })).toThrow(
      /^idempotency: store is a Keyv in memory: Keyv 5 ignores the address that it was given.* Write new Keyv\(new KeyvRedis/,
    );
  },
);
