/** A project of somebody who uses the package: what is installed into it, by what, and what is run there. */
export interface Project {
  readonly area: Area;
  readonly name: string;
  readonly manager: Manager;
  /** What it depends on beside the package: versions, ranges or tags. */
  readonly packages: Readonly<Record<string, string>>;
  /** npm's `overrides`: versions of what the package depends on. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** Yarn's `resolutions`, for what other packages depend on. */
  readonly resolutions?: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  readonly cells: readonly Cell[];
  /** The version of Node that installs it and that its cells run on, unless they say otherwise. */
  readonly node: NodeVersion;
}

export interface Cell {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  readonly node?: NodeVersion;
  /** What it prints. */
  readonly prints?: RegExp;
  /** What it prints when it fails, where it cannot but fail. */
  readonly failsWith?: RegExp;
}

export type Area = 'run time' | 'types' | 'tools' | 'lowest versions' | 'package';
export type Manager = 'npm' | 'pnpm' | 'yarn';
export type NodeVersion = '20' | '22' | '24' | '26';

export interface CellResult {
  readonly cell: Cell;
  readonly node: NodeVersion;
  /** What went wrong; undefined when it is green. */
  readonly failure?: string;
}

export interface ProjectResult {
  readonly project: Project;
  /** What was installed: `express 5.3.0`. */
  readonly versions: readonly string[];
  readonly cells: readonly CellResult[];
}
