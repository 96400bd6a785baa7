import Keyv from 'keyv';
import { Keyv as Keyv6 } from 'keyv-6';
import { configure, guid, idempotency, memoryLeases, type IdempotencyOptions } from '../../../lib';

const MILLISECONDS = 'a whole number of milliseconds from 1 to 2147483647';
const COUNT = 'a whole number above zero';
const FLAG = 'true or false';
const FUNCTION = 'a function';

/** For each option: what it must be, values that are that, and values that are not, as the message shows them. */
const table: Record<
  keyof IdempotencyOptions,
  [expects: string, accepted: unknown[], refused: [value: unknown, shown: string][]]
> = {
  headerName: [
    'an HTTP header name',
    ['X-Key', 'x'],
    [
      ['', '""'],
      ['X Key', '"X Key"'],
      ['Ü', '"Ü"'],
      ['a:', '"a:"'],
      [1, '1'],
      [null, 'null'],
    ],
  ],
  additionalHeaders: [
    'an array of HTTP header names',
    [[], ['X-A', 'x-b'], Object.freeze(['X-A'])],
    [
      ['X-A', '"X-A"'],
      [['X A'], 'an array of "X A"'],
      [[1], 'an array of 1'],
      [{}, 'an object'],
    ],
  ],
  whenKeyMissing: [
    '"reject" or "run"',
    ['reject', 'run'],
    [
      ['ignore', '"ignore"'],
      [false, 'false'],
    ],
  ],
  methods: [
    "an array of HTTP methods, for example ['POST', 'PATCH']",
    [['POST'], ['post', 'PATCH', 'PROPFIND']],
    [
      ['POST', '"POST"'],
      [[], 'an empty array'],
      [['PSOT'], 'an array of "PSOT"'],
      [[1], 'an array of 1'],
      [{}, 'an object'],
    ],
  ],
  ignoreHost: [
    FLAG,
    [true, false],
    [
      ['true', '"true"'],
      [1, '1'],
    ],
  ],
  ignoreRequestBody: [
    FLAG,
    [true, false],
    [
      ['true', '"true"'],
      [1, '1'],
      [null, 'null'],
    ],
  ],
  sameBody: [
    '"bytes" or "json"',
    ['bytes', 'json'],
    [
      ['value', '"value"'],
      [true, 'true'],
    ],
  ],
  includeFileContents: [
    FLAG,
    [true, false],
    [
      ['true', '"true"'],
      [1, '1'],
    ],
  ],
  cacheDuration: [
    'a whole number of milliseconds from 1 to 315360000000 (ten years)',
    [1, 86_400_000, 31_536_000_000],
    [
      [0, '0'],
      [-1, '-1'],
      [1.5, '1.5'],
      [NaN, 'NaN'],
      [Infinity, 'Infinity'],
      [315_360_000_001, '315360000001'],
      ['10m', '"10m"'],
      ['1000', '"1000"'],
      [1n, '1'],
    ],
  ],
  swaggerHeaderDescription: ['text', ['', 'A key.'], [[1, '1']]],
  swaggerExampleGenerator: [FUNCTION, [() => 'abc'], [['abc', '"abc"']]],
  swaggerHeaderType: ['a type, for example guid', [guid, class {}], [['guid', '"guid"']]],
  addHeaderToResponse: [
    FLAG,
    [true, false],
    [
      ['yes', '"yes"'],
      [0, '0'],
    ],
  ],
  store: [
    'a Keyv, for example new Keyv(adapter)',
    [new Keyv()],
    [
      [new Map(), 'an instance of Map'],
      ['redis://localhost', '"redis://localhost"'],
      [null, 'null'],
      [{}, 'an object'],
    ],
  ],
  leases: [
    'a LeaseStore, which memoryLeases(), redisLeases() and postgresLeases() return when they are called',
    [memoryLeases()],
    [
      [{}, 'an object'],
      [memoryLeases, 'a function'],
      [{ acquire: () => undefined }, 'an object with acquire'],
    ],
  ],
  scope: [
    FUNCTION,
    [() => undefined],
    [
      ['tenant', '"tenant"'],
      [{}, 'an object'],
    ],
  ],
  whenInFlight: [
    '"wait" or "reject"',
    ['wait', 'reject'],
    [
      ['run', '"run"'],
      [true, 'true'],
      ['', '""'],
    ],
  ],
  waitTimeout: [
    MILLISECONDS,
    [1, 5_000],
    [
      [0, '0'],
      ['5s', '"5s"'],
      [-5, '-5'],
    ],
  ],
  whenKeyReused: [
    '"run" or "reject"',
    ['run', 'reject'],
    [
      ['wait', '"wait"'],
      [false, 'false'],
    ],
  ],
  whenStoreFails: ['"reject" or "run"', ['reject', 'run'], [['open', '"open"']]],
  storeTimeout: [
    MILLISECONDS,
    [1, 100],
    [
      [0, '0'],
      [Infinity, 'Infinity'],
    ],
  ],
  leaseDuration: [
    MILLISECONDS,
    [1, 30_000],
    [
      [0, '0'],
      [0.5, '0.5'],
    ],
  ],
  shouldCache: [
    FUNCTION,
    [() => true],
    [
      [true, 'true'],
      [[200], 'an array of 200'],
    ],
  ],
  replayedHeader: [
    'an HTTP header name, or false',
    ['X-Again', false],
    [
      [true, 'true'],
      ['', '""'],
      ['X Again', '"X Again"'],
      [null, 'null'],
    ],
  ],
  keyPattern: [
    'a regular expression',
    [/^.+$/],
    [
      ['^.+$', '"^.+$"'],
      [{}, 'an object'],
    ],
  ],
  maxRequestBytes: [
    COUNT,
    [1, 2 ** 40],
    [
      [0, '0'],
      [-1, '-1'],
      ['10mb', '"10mb"'],
      [Infinity, 'Infinity'],
    ],
  ],
  maxResponseBytes: [
    COUNT,
    [1, 63_963_136],
    [
      [0, '0'],
      [1.5, '1.5'],
      [NaN, 'NaN'],
    ],
  ],
  onEvent: [
    FUNCTION,
    [() => undefined],
    [
      [{}, 'an object'],
      ['log', '"log"'],
    ],
  ],
};

const names = Object.keys(table) as (keyof IdempotencyOptions)[];
const accepted = names.flatMap(name => [...table[name][1], undefined].map(value => ({ name, value })));
const refused = names.flatMap(name =>
  table[name][2].map(([value, shown]) => ({
    name,
    value,
    message: `idempotency: ${name} must be ${table[name][0]}, not ${shown}`,
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
    ['headername', 'headerName'],
    ['header-name', 'headerName'],
    ['additionalHeader', 'additionalHeaders'],
    ['ignoreRequestBodies', 'ignoreRequestBody'],
    ['cacheDuraton', 'cacheDuration'],
    ['cachedDuration', 'cacheDuration'],
    ['whenInflight', 'whenInFlight'],
    ['waitTimeOut', 'waitTimeout'],
    ['lease', 'leases'],
    ['leasesDuration', 'leaseDuration'],
    ['Store', 'store'],
    ['shouldcache', 'shouldCache'],
    ['replayHeader', 'replayedHeader'],
    ['maxRequestByte', 'maxRequestBytes'],
    ['onEvents', 'onEvent'],
    ['scopes', 'scope'],
    ['whenStoreFail', 'whenStoreFails'],
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

  it.each<[unknown, string]>([
    [null, 'null'],
    ['wait', '"wait"'],
    [5_000, '5000'],
    [true, 'true'],
    [() => undefined, 'a function'],
    [[], 'an empty array'],
  ])('cannot be given as %p', (options, shown) => {
    expect(() => idempotency(options as IdempotencyOptions)).toThrow(
      new TypeError(`idempotency: options must be an object, not ${shown}`),
    );
  });

  it.each([
    ['5', new Keyv()],
    ['6', new Keyv6()],
  ])('cannot be given as a Keyv %s, which is the value of one', (_version, keyv) => {
    const error = new TypeError('idempotency: this is a Keyv. Write idempotency({ store }).');
    for (const make of [idempotency, configure().idempotency]) expect(() => make(keyv as object)).toThrow(error);
    expect(() => configure({ idempotency: keyv as object })).toThrow(error);
  });

  it('maxResponseBytes may be what the default store can hold, and with a store any number', () => {
    const options = { maxResponseBytes: 63_963_137 };
    const error = new TypeError(
      'idempotency: maxResponseBytes must be at most 63963136 without a store, not 63963137, because the default store holds 64 MiB in all. Lower it, or pass a store.',
    );
    expect(() => idempotency(options)).toThrow(error);
    const configured = configure({ idempotency: options });
    expect(() => configured.idempotency()).toThrow(error);
    expect(() => configure().idempotency(options)).toThrow(error);
    expect(configured.idempotency({ store: new Keyv() })).toBeInstanceOf(Function);
    expect(idempotency({ maxResponseBytes: 2 ** 40, store: new Keyv() })).toBeInstanceOf(Function);
  });

  it('a header of the key that is called False does not mark replays', () => {
    expect(idempotency({ headerName: 'False', replayedHeader: false })).toBeInstanceOf(Function);
  });

  it('the header of the key cannot mark replays, too', () => {
    expect(() => idempotency({ headerName: 'X-Key', replayedHeader: 'x-key' })).toThrow(
      new TypeError('idempotency: headerName and replayedHeader must be two headers, not both X-Key'),
    );
  });

  it.each<IdempotencyOptions>([
    { headerName: '__proto__' },
    { headerName: '__PROTO__' },
    { additionalHeaders: ['X-A', '__proto__'] },
  ])('that names the header __proto__, which node loses, is refused: %p', options => {
    const error = new TypeError(
      'idempotency: headerName and additionalHeaders cannot name __proto__, because node loses a header of that name',
    );
    expect(() => idempotency(options)).toThrow(error);
    expect(() => configure().idempotency(options)).toThrow(error);
  });

  it.each<['headerName' | 'replayedHeader', string, string]>([
    ['headerName', 'Authorization', 'Idempotency-Key'],
    ['headerName', 'cookie', 'Idempotency-Key'],
    ['headerName', 'X-API-Key', 'Idempotency-Key'],
    ['headerName', 'Transfer-Encoding', 'Idempotency-Key'],
    ['headerName', 'Content-Type', 'Idempotency-Key'],
    ['replayedHeader', 'Content-Length', 'Idempotent-Replayed'],
    ['replayedHeader', 'transfer-encoding', 'Idempotent-Replayed'],
    ['replayedHeader', 'Connection', 'Idempotent-Replayed'],
    ['replayedHeader', 'CONTENT-TYPE', 'Idempotent-Replayed'],
    ['replayedHeader', 'Set-Cookie', 'Idempotent-Replayed'],
  ])('whose %s is %s, which is used for something else, is refused', (name, value, example) => {
    const error = new TypeError(
      `idempotency: ${name} cannot be ${value}, because clients and servers use that header for something else. ` +
        `Choose another, for example ${example}.`,
    );
    expect(() => idempotency({ [name]: value })).toThrow(error);
    expect(() => configure().idempotency({ [name]: value })).toThrow(error);
  });

  it('may count such a header among those that take part in the cache key', () => {
    expect(idempotency({ additionalHeaders: ['Authorization', 'Content-Type'] })).toBeInstanceOf(Function);
  });

  it('shows no more than the beginning of a long value', () => {
    expect(() => idempotency({ whenInFlight: 'x'.repeat(1_000) as 'wait' })).toThrow(
      new TypeError(`idempotency: whenInFlight must be "wait" or "reject", not "${'x'.repeat(60)}"`),
    );
  });

  it('is not needed', () => {
    expect(idempotency().name).toBe('idempotency');
    expect(idempotency({})).toHaveLength(3);
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
