/** The rooms of lib that import no other room but `basics`; `problems` imports `http`, too. Type imports count. */
const leaves = ['basics', 'description', 'http', 'problems', 'options', 'principal', 'warnings'];

/** What the other rooms import, besides the leaves. */
const rooms = {
  body: [],
  idempotency: ['body'],
  binding: ['body'],
  openapi: ['idempotency', 'binding', 'body'],
  cli: ['openapi', 'binding', 'idempotency'],
};

/**
 * The folders of three rooms are floors, from the ground up: each imports only those below it, and none imports the files
 * of the flow, which are above all floors.
 */
const floors = {
  body: ['content', 'spool', 'stream', 'form'],
  idempotency: ['leases', 'responses', 'stores', 'options', 'identity', 'store-calls', 'run', 'operate'],
  binding: ['reading', 'types', 'declaration', 'plan', 'input', 'responses'],
};

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    { name: 'nobody-imports-the-index', severity: 'error', from: { path: '^lib/' }, to: { path: '^lib/index\\.ts$' } },
    {
      name: 'testing-imports-the-contract-of-stores-only',
      severity: 'error',
      from: { path: '^lib/testing[./]' },
      to: { path: '^lib/', pathNot: '^lib/(testing|idempotency/(leases|responses)|idempotency/stores/store.ts$)' },
    },
    {
      name: 'testing-runs-without-the-rest-of-the-package',
      severity: 'error',
      from: { path: '^lib/testing[./]' },
      to: { path: '^lib/', pathNot: '^lib/testing/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'testing-needs-node-only',
      severity: 'error',
      from: { path: '^lib/testing[./]' },
      to: { dependencyTypesNot: ['core', 'local', 'type-only'] },
    },
    {
      name: 'nobody-imports-testing',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/testing[./]' },
      to: { path: '^lib/testing[./]' },
    },
    {
      name: 'client-imports-nothing-else',
      severity: 'error',
      from: { path: '^lib/client[./]' },
      to: { pathNot: '^lib/client/' },
    },
    {
      name: 'nobody-imports-client',
      severity: 'error',
      from: { path: '^lib/', pathNot: '^lib/client[./]' },
      to: { path: '^lib/client[./]' },
    },
    {
      name: 'rooms-are-put-together-in-the-index-only',
      severity: 'error',
      from: { path: '^lib/[^/]+/' },
      to: { path: '^lib/[^/]+\\.ts$' },
    },
    ...Object.entries(rooms).map(([room, others]) => ({
      name: `${room}-imports-${others.join('-')}-and-leaves-only`,
      severity: 'error',
      from: { path: `^lib/${room}/` },
      to: { path: '^lib/', pathNot: `^lib/(${[room, ...others, ...leaves].join('|')})/` },
    })),
    ...leaves.map(leaf => ({
      name: `${leaf}-imports-no-room`,
      severity: 'error',
      from: { path: `^lib/${leaf}/` },
      to: { path: '^lib/', pathNot: `^lib/(${['basics', leaf, ...(leaf === 'problems' ? ['http'] : [])].join('|')})/` },
    })),
    ...Object.entries(floors).flatMap(([room, folders]) => [
      ...folders.map((folder, at) => ({
        name: `${room}-${folder}-imports-only-floors-below-it`,
        severity: 'error',
        from: { path: `^lib/${room}/${folder}/` },
        to: { path: `^lib/${room}/`, pathNot: `^lib/${room}/(${folders.slice(0, at + 1).join('|')})/` },
      })),
      {
        name: `every-folder-of-${room}-has-its-floor`,
        severity: 'error',
        from: {},
        to: { path: `^lib/${room}/[^/]+/`, pathNot: `^lib/${room}/(${folders.join('|')})/` },
      },
    ]),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
