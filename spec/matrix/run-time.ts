import { commonJs, esModule, type Store } from './programs';
import type { Cell, Manager, NodeVersion, Project } from './project';

const nodes: readonly NodeVersion[] = ['20', '22', '24', '26'];
export const expresses = ['4.19.2', '4', '5.0.1', '5'];

/** Keyv on memory and on Redis, each with the version that its adapter asks for. */
const keyvs: readonly { readonly store: Store; readonly packages: Readonly<Record<string, string>> }[] = [
  { store: 'memory', packages: { keyv: '5' } },
  { store: 'memory', packages: { keyv: '6' } },
  { store: 'redis', packages: { keyv: '5', '@keyv/redis': '5' } },
  { store: 'redis', packages: { keyv: '6', '@keyv/redis': '6.0.0-rc.1' } },
];

/** A project that requires the package and one that imports it, in one folder. */
export function program(
  name: string,
  manager: Manager,
  store: Store,
  packages: Readonly<Record<string, string>>,
  on = nodes,
): Project {
  const cells = on.flatMap((node): Cell[] =>
    ['cjs', 'mjs'].map(kind => ({
      name: kind === 'cjs' ? 'require' : 'import',
      node,
      command: ['node', `main.${kind}`],
      prints: /^replayed$/m,
    })),
  );
  const files = { 'main.cjs': commonJs(store), 'main.mjs': esModule(store) };
  return { area: 'run time', name, manager, node: '22', packages, files, cells };
}

export const runTime: readonly Project[] = [
  ...expresses.flatMap(express =>
    keyvs.map(({ store, packages }) => program(store, 'npm', store, { express, ...packages })),
  ),
  program('redis, the adapter of Keyv 5 under Keyv 6', 'pnpm', 'redis', {
    express: '5',
    keyv: '6',
    '@keyv/redis': '5',
  }),
  program('valkey', 'npm', 'valkey', { express: '5', keyv: '5', '@keyv/valkey': '1' }, ['24']),
  program('postgres', 'npm', 'postgres', { express: '5', keyv: '5', '@keyv/postgres': '2', pg: '8' }, ['24']),
  ...(['pnpm', 'yarn'] as const).flatMap(manager =>
    ['4', '5'].map(express => program('memory', manager, 'memory', { express, keyv: '5' }, ['22', '24'])),
  ),
];
