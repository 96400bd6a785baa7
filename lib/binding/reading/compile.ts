import { compileFunction } from 'node:vm';
import { late, type Late } from '../../basics/late';
import { oneInProcess } from '../../basics/one-in-process';
import { warnOnce } from '../../warnings/warn-once';
import type { Template } from './template';

/**
 * Makes the function of a template.
 * @param owner name of the class that the code belongs to.
 * @param constants returns the values of the template's parameters.
 */
export type Compile = <F>(
  owner: string,
  template: Template<F>,
  facts: F,
  constants: () => readonly unknown[],
) => Late<Compiled>;

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

  add<F>(owner: string, template: Template<F>, facts: F): void {
    this.texts.set(template.fingerprint(owner, facts), { owner, text: template.text(facts) });
  }
}

/** The collection of this process, if the command made one. */
export const collecting = oneInProcess<{ collection?: CodeCollection }>('collecting', () => ({}));

/**
 * Makes a compiler that takes functions from generated contexts, if there are any. The compiler of the rest,
 * `compileFunction`, also works where the runtime forbids code from strings.
 */
export function compilerWith(contexts: readonly GeneratedContexts[]): Compile {
  return (owner, template, facts, constants) => {
    collecting.collection?.add(owner, template, facts);
    const generated =
      contexts.length > 0 ? generatedFor(owner, template.fingerprint(owner, facts), contexts) : undefined;
    return late(() => (generated ?? compiled(template, facts))(...constants()));
  };
}

function compiled<F>(template: Template<F>, facts: F): CodeFunction {
  const code = `'use strict'; ${template.body(facts)}`;
  return compileFunction(code, template.parameters(facts), { filename: 'bindonce:compiled' }) as CodeFunction;
}

function generatedFor(
  owner: string,
  fingerprint: string,
  contexts: readonly GeneratedContexts[],
): CodeFunction | undefined {
  for (const { functions } of contexts) if (Object.hasOwn(functions, fingerprint)) return functions[fingerprint];
  if (collecting.collection) return undefined;
  const problem = `the generated contexts have no code for ${owner} as it is declared now`;
  const remedy = 'Run `npx bindonce generate` again, with a module that uses it, or keep class names in your bundler';
  if (contexts.some(({ whenStale }) => whenStale === 'throw')) throw new TypeError(`${problem}. ${remedy}.`);
  const warning = `bindonce: ${problem}, so it is compiled when it is first used. ${remedy}.`;
  warnOnce('BINDONCE_STALE_CONTEXTS', warning, owner);
  return undefined;
}
