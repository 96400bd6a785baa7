import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Cell, CellResult, Manager, Project, ProjectResult } from './project';
import { run, runWell, type Surroundings } from './shell';
import type { Workshop } from './workshop';

type Command = readonly [string, ...string[]];

/** How strict each package manager is: peers that do not fit fail, and nothing is found that is not declared. */
const settings: Readonly<Record<Manager, Readonly<Record<string, string>>>> = {
  npm: { '.npmrc': 'strict-peer-deps=true\n' },
  // pnpm 10 and before read the first file, later ones the second.
  pnpm: {
    '.npmrc': 'hoist=false\nshamefully-hoist=false\n',
    'pnpm-workspace.yaml': 'hoist: false\nshamefullyHoist: false\n',
  },
  yarn: {
    '.yarnrc.yml': 'nodeLinker: pnp\nenableTelemetry: false\nenableScripts: false\nenableImmutableInstalls: false\n',
    'yarn.lock': '',
  },
};

const installation: Readonly<Record<Manager, readonly string[]>> = {
  npm: ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'],
  pnpm: ['install', '--ignore-scripts', '--prefer-offline'],
  yarn: ['install'],
};

/** Installs a project and runs its cells. */
export async function runProject(
  workshop: Workshop,
  project: Project,
  env: Readonly<Record<string, string>> = {},
): Promise<ProjectResult> {
  const cwd = await workshop.folder();
  const manager = await workshop.manager(project.manager);
  const { packages, overrides = {}, resolutions = {}, manager: kind } = project;
  const manifest = {
    name: 'user',
    private: true,
    dependencies: { bindonce: 'file:./bindonce.tgz', ...packages },
    overrides,
    resolutions,
  };
  const files = { 'package.json': JSON.stringify(manifest), ...settings[kind], ...project.files };
  await copyFile(workshop.tarball, join(cwd, 'bindonce.tgz'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), text);
  }
  const inFolder = async (node = project.node): Promise<Surroundings> => ({
    cwd,
    env: { ...workshop.env, ...env },
    bin: [await workshop.node(node), join(cwd, 'node_modules/.bin')],
  });
  try {
    await runWell([...manager, ...installation[kind]], await inFolder());
  } catch (error) {
    return {
      project,
      versions: [],
      cells: project.cells.map(cell => ({ cell, node: cell.node ?? project.node, failure: String(error) })),
    };
  }
  const cells: CellResult[] = [];
  for (const cell of project.cells) {
    const ended = await run(kind === 'yarn' ? inYarn(manager, cell.command) : cell.command, await inFolder(cell.node));
    cells.push({ cell, node: cell.node ?? project.node, ...failureOf(cell, ended) });
  }
  return { project, versions: await versionsIn(cwd, project), cells };
}

/** Plug'n'Play resolves for what Yarn starts. */
const inYarn = (yarn: Command, [program, ...args]: Command): Command =>
  program === 'node' ? [...yarn, 'node', ...args] : [...yarn, 'run', program, ...args];

function failureOf(
  { prints, failsWith }: Cell,
  { isWell, output }: { isWell: boolean; output: string },
): { failure?: string } {
  if (failsWith)
    return !isWell && failsWith.test(output) ? {} : { failure: `does not fail with ${failsWith}:\n${output}` };
  return isWell && (prints?.test(output) ?? true) ? {} : { failure: output };
}

async function versionsIn(cwd: string, { manager, packages }: Project): Promise<string[]> {
  const lock = manager === 'yarn' ? await readFile(join(cwd, 'yarn.lock'), 'utf8') : '';
  return Promise.all(
    Object.keys(packages).map(async name => {
      const locked = lock.split('\n\n').find(entry => entry.startsWith(`"${name}@`));
      const version =
        locked === undefined
          ? (JSON.parse(await readFile(join(cwd, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
              .version
          : /version: (\S+)/.exec(locked)?.[1];
      return `${name} ${version}`;
    }),
  );
}
