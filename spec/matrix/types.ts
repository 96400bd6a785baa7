import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { programsIn } from '../docs/notations';
import type { Cell, Manager, Project } from './project';

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** What programs import, in the versions that they are written for. */
function packagesOf(root: string, sources: readonly string[]): Record<string, string> {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const names = new Set(
    sources.flatMap(source => [...source.matchAll(/from '((?:@[\w-]+\/)?[\w.-]+)'/g)].map(([, name = '']) => name)),
  );
  const versioned = [...names]
    .filter(name => name !== 'bindonce' && name !== 'express')
    .flatMap(name => [name, `@types/${name}`]);
  return Object.fromEntries(
    versioned.flatMap(name => (devDependencies[name] === undefined ? [] : [[name, devDependencies[name]]])),
  );
}

type Module = 'nodenext' | 'bundler';
type Decorators = 'standard' | 'legacy';

function tsconfig(module: Module, decorators: Decorators, exactOptionalPropertyTypes: boolean): string {
  const compilerOptions = {
    ...(module === 'nodenext' ? { module } : { module: 'esnext', moduleResolution: module }),
    ...{ target: 'es2022', lib: ['es2023', 'dom', 'esnext.decorators'], types: ['node'], noEmit: true },
    ...{ strict: true, esModuleInterop: true, skipLibCheck: false },
    exactOptionalPropertyTypes,
    experimentalDecorators: decorators === 'legacy',
  };
  return JSON.stringify({ compilerOptions, include: [module === 'nodenext' ? 'nodenext' : 'bundler'] });
}

const modules: readonly Module[] = ['nodenext', 'bundler'];
const settings = (['standard', 'legacy'] as const).flatMap(decorators =>
  [false, true].map(exact => ({ decorators, exact })),
);

/**
 * A cell is named after `module` (nodenext: as CommonJS and as ESM), the kind of decorators, and `exactOptionalPropertyTypes`.
 * @param those which settings of the compiler: all, or the strictest only.
 */
export function typesWith(
  root: string,
  manager: Manager,
  typescript: string,
  express: string,
  those: 'all' | 'strictest' = 'all',
): Project {
  const sources = programsIn(root);
  const files: Record<string, string> = {};
  sources.forEach((source, index) => {
    Object.assign(files, {
      [`nodenext/${index}.cts`]: source,
      [`nodenext/${index}.mts`]: source,
      [`bundler/${index}.ts`]: source,
    });
  });
  const cells = modules.flatMap(module =>
    settings.slice(those === 'all' ? 0 : -1).map(({ decorators, exact }): Cell => {
      const file = `tsconfig.${module}.${decorators}${exact ? '.exact' : ''}.json`;
      files[file] = tsconfig(module, decorators, exact);
      return { name: `${module} ${decorators}${exact ? ' exact' : ''}`, command: ['tsc', '-p', file] };
    }),
  );
  const compiled = { express, '@types/express': express, keyv: '5', typescript, '@types/node': '22' };
  const packages = { ...compiled, ...packagesOf(root, sources) };
  // These take the types of any Express, which to Yarn are the latest, whatever the application has.
  const resolutions = {
    '@types/compression/@types/express': express,
    '@types/express-session/@types/express': express,
  };
  const name = `every snippet of the README and of docs/ (${sources.length} programs)`;
  return { area: 'types', name, manager, node: '22', packages, resolutions, files, cells };
}

export const types = (root: string): readonly Project[] => [
  ...['~5.9.3', '6', '7'].map(typescript => typesWith(root, 'npm', typescript, '5')),
  ...(['npm', 'pnpm', 'yarn'] as const).map(manager => typesWith(root, manager, '6', '4', 'strictest')),
  typesWith(root, 'pnpm', '7', '5', 'strictest'),
  typesWith(root, 'yarn', '6', '5', 'strictest'),
];
