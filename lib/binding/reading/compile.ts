import { compileFunction } from 'node:vm';
import { oneInProcess } from '../../basics/one-in-process';
import { sha256 } from '../../basics/sha256';
import { warnOnce } from '../../warnings/warn-once';

/**
 * Makes a function of code and the values of its constants.
 * @param owner name of the class that the code belongs to.
 * @param codeOf writes the body of a function that returns the result. It contains declared names, written as JSON, and
 * no part of a request.
 */
export type Compile = (owner: string, codeOf: () => string, constants: readonly Constant[]) => Compiled;

export type Constant = readonly [name: string, value: unknown];

/** A compiled function; it has at most three parameters. */
type Compiled = (...given: never[]) => unknown;

/** A function whose parameters are the constants of some code. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the parameters of generated code get this type.
export type CodeFunction = (...constants: any[]) => (...given: any[]) => unknown;

/** Functions that were compiled ahead of time, by the fingerprints of their code. */
export interface GeneratedContexts {
  readonly functions: Readonly<Record<string, CodeFunction>>;
  readonly whenStale: 'warn' | 'throw';
}

/** Returns the contexts so that they never throw, for code that is first needed when a request is served. */
export function neverThrowing(contexts: readonly GeneratedContexts[]): GeneratedContexts[] {
  return contexts.map(({ functions }) => ({ functions, whenStale: 'warn' }));
}

/** Collects the code that is compiled in this process, while `npx bindonce generate` loads an application. */
export class CodeCollection {
  /** The texts of functions, by fingerprint. */
  readonly texts = new Map<string, { readonly owner: string; readonly text: string }>();

  add(owner: string, text: string): void {
    this.texts.set(fingerprintOf(owner, text), { owner, text });
  }
}

/** The collection of this process, if the command made one. */
export const collecting = oneInProcess<{ collection?: CodeCollection }>('collecting', () => ({}));

/**
 * Makes a compiler that takes functions from generated contexts, if there are any. The compiler of the rest,
 * `compileFunction`, also works where the runtime forbids code from strings.
 */
export function compilerWith(contexts: readonly GeneratedContexts[]): Compile {
  return (owner, codeOf, constants) => {
    const names = constants.map(([name]) => name);
    const isLookedUp = contexts.length > 0 || collecting.collection !== undefined;
    const generated = isLookedUp
      ? generatedFor(owner, `(${names.join(', ')}) => { ${codeOf()} }`, contexts)
      : undefined;
    return whenUsed(() => {
      const make = generated ?? compileFunction(`'use strict'; ${codeOf()}`, names, { filename: 'bindonce:compiled' });
      return (make as CodeFunction)(...constants.map(([, value]) => value));
    });
  };
}

/**
 * Makes a function when it is first called: most classes are only read, or only written. At start-up, compiling the
 * code of 300 endpoints took a third of the time that it took to make them.
 */
function whenUsed(make: () => Compiled): Compiled {
  let made: Compiled | undefined;
  return (first, second, third) => (made ??= make())(first, second, third);
}

function generatedFor(owner: string, text: string, contexts: readonly GeneratedContexts[]): CodeFunction | undefined {
  collecting.collection?.add(owner, text);
  const fingerprint = fingerprintOf(owner, text);
  for (const { functions } of contexts) if (Object.hasOwn(functions, fingerprint)) return functions[fingerprint];
  if (collecting.collection) return undefined;
  const problem = `the generated contexts have no code for ${owner} as it is declared now`;
  const remedy = 'Run `npx bindonce generate` again, with a module that uses it, or keep class names in your bundler';
  if (contexts.some(({ whenStale }) => whenStale === 'throw')) throw new TypeError(`${problem}. ${remedy}.`);
  const warning = `bindonce: ${problem}, so it is compiled when it is first used. ${remedy}.`;
  warnOnce('BINDONCE_STALE_CONTEXTS', warning, owner);
  return undefined;
}

/** Tells apart the code of two classes, and of two declarations of one class. */
function fingerprintOf(owner: string, text: string): string {
  return sha256(`${owner}\n${text}`).slice(0, 24);
}
