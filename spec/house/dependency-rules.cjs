/** Which room of lib may import which; type imports count. */
const leaves = ['http', 'problems', 'options', 'principal', 'warnings'];

/** The floors of lib/binding, from the ground up: each imports only those below it. */
const floors = ['reading', 'types', 'declaration', 'plan', 'input', 'responses', 'sources'];

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
    ...floors.map((floor, at) => ({
      name: `binding-${floor}-imports-floors-below`,
      severity: 'error',
      from: { path: `^lib/binding/${floor}/` },
      to: { path: '^lib/binding/', pathNot: `^lib/binding/(${floors.slice(0, at + 1).join('|')})/` },
    })),
    ...leaves.map(leaf => ({
      name: `${leaf}-imports-no-room`,
      severity: 'error',
      from: { path: `^lib/${leaf}/` },
      to: { path: '^lib/', pathNot: `^lib/${leaf}/` },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
