import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Project, ProjectResult } from './project';
import { runProject } from './run-project';
import { program } from './run-time';
import { failures } from './table';
import { typesWith } from './types';
import { Workshop } from './workshop';

const root = join(__dirname, '../..');
const [node] = process.versions.node.split('.') as [Project['node']];

const ourNode = (project: Project): Project => ({
  ...project,
  node,
  cells: project.cells.map(cell => ({ ...cell, node })),
});

/** The short form of `npm run matrix`: one project for each package manager, with this Node. */
const withNpm = ourNode(program('memory', 'npm', 'memory', { express: '5', keyv: '5' }, [node]));
const projects = {
  npm: {
    ...withNpm,
    files: {
      ...withNpm.files,
      'one.mjs':
        "import { createRequire } from 'node:module';\nimport { dto } from 'bindonce';\nconsole.log(createRequire(import.meta.url)('bindonce').dto === dto);\n",
      'optional.cjs':
        "require('bindonce');\nconsole.log(Object.keys(require.cache).filter(file => /@keyv.redis|@redis|node_modules.pg/.test(file)));\n",
    },
    cells: [
      ...withNpm.cells,
      { name: 'is one module for require and import', command: ['node', 'one.mjs'], prints: /^true$/m },
      { name: 'does not load what is optional', command: ['node', 'optional.cjs'], prints: /^\[\]$/m },
    ],
  },
  pnpm: ourNode(typesWith(root, 'pnpm', '7', '4', 'strictest')),
  yarn: ourNode(program('memory', 'yarn', 'memory', { express: '4', keyv: '6' }, [node])),
} satisfies Readonly<Record<string, Project>>;

describe('the packed package, in projects outside of the repository', () => {
  let workshop: Workshop;
  let results: ProjectResult[];

  beforeAll(async () => {
    workshop = await Workshop.open(root);
    results = await Promise.all(Object.values(projects).map(project => runProject(workshop, project)));
  }, 1_200_000);
  afterAll(() => {
    workshop.close();
  });

  it('holds the compiled library, its types and its documents, and nothing else', () => {
    const files = execFileSync('tar', ['-tzf', workshop.tarball], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(file => file.replace(/^package\//, ''));
    expect(files.filter(file => !/^(dist|docs|lib)\//.test(file)).sort()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'package.json',
    ]);
    expect(files).toEqual(
      expect.arrayContaining([
        'dist/index.d.ts',
        'dist/testing.d.ts',
        'dist/client.js',
        'dist/esm/client.js',
        'dist/esm/package.json',
        'docs/errors.md',
        'docs/examples/express-4/server.js',
      ]),
    );
    expect(files.filter(file => /^docs\/.*(dist|node_modules)\//.test(file))).toEqual([]);
  });

  it.each([
    { manager: 'npm', fact: 'replays on Express 5, required and imported, as one module, without what is optional' },
    {
      manager: 'pnpm',
      fact: 'compiles every snippet of the documents as CommonJS and ESM, with nothing hoisted and the types of Express 4',
    },
    { manager: 'yarn', fact: "replays on Express 4, required and imported, under Plug'n'Play" },
  ] as const)('$fact ($manager)', ({ manager }) => {
    const result = results.find(({ project }) => project.manager === manager);
    expect(failures(result ? [result] : [])).toEqual([]);
    expect(result?.cells.length).toBe(projects[manager].cells.length);
  });
});
