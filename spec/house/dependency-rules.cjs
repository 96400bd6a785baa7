/** The rooms of lib that import no other room, except that `problems` imports `http`. Type imports count. */
const leaves = ['http', 'problems', 'options', 'principal', 'warnings'];

/** The folders of lib/idempotency: each imports only those after it, and none imports the files of the flow above them. */
const floors = ['identity', 'responses', 'redis', 'postgres', 'leases', 'stores'];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'idempotency-knows-nothing-of-binding',
      severity: 'error',
      from: { path: '^lib/idempotency/' },
      to: { path: '^lib/binding/' },
    },
    {
      name: 'binding-knows-nothing-of-idempotency',
      severity: 'error',
      from: { path: '^lib/binding/' },
      to: { path: '^lib/idempotency/' },
    },
    { name: 'nobody-imports-the-index', severity: 'error', from: { path: '^lib/' }, to: { path: '^lib/index\\.ts$' } },
    {
      name: 'rooms-are-put-together-in-the-index-only',
      severity: 'error',
      from: { path: '^lib/[^/]+/' },
      to: { path: '^lib/[^/]+\\.ts$' },
    },
    {
      name: 'body-imports-leaves-only',
      severity: 'error',
      from: { path: '^lib/body/' },
      to: { path: '^lib/', pathNot: `^lib/(body|${leaves.join('|')})/` },
    },
    ...leaves.map(leaf => ({
      name: `${leaf}-imports-no-room`,
      severity: 'error',
      from: { path: `^lib/${leaf}/` },
      to: { path: '^lib/', pathNot: `^lib/${leaf === 'problems' ? '(problems|http)' : leaf}/` },
    })),
    ...floors.map((floor, index) => ({
      name: `idempotency-${floor}-imports-only-folders-below-it`,
      severity: 'error',
      from: { path: `^lib/idempotency/${floor}/` },
      to: { path: '^lib/idempotency/', pathNot: `^lib/idempotency/(${floors.slice(index).join('|')})/` },
    })),
    {
      name: 'every-folder-of-idempotency-has-its-floor',
      severity: 'error',
      from: {},
      to: { path: '^lib/idempotency/[^/]+/', pathNot: `^lib/idempotency/(${floors.join('|')})/` },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
