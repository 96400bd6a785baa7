import type * as compile from '../../lib/binding/reading/compile';
import { contextModule } from '../../lib/cli/context-module';

/*
 * The set-up of the project `generated`: all code for classes goes through the text of a generated module, and none is
 * compiled in another way.
 */
jest.mock('../../lib/binding/reading/compile', () => {
  const real = jest.requireActual<typeof compile>('../../lib/binding/reading/compile');
  const compilerWith = (): compile.Compile => (owner, template, facts, constants) => {
    const collection = new real.CodeCollection();
    real.collecting.collection = collection;
    try {
      real.compilerWith([])(owner, template, facts, constants);
    } finally {
      delete real.collecting.collection;
    }
    const functions = functionsIn(contextModule('contexts.cjs', collection)[0].text);
    return real.compilerWith([{ functions, whenStale: 'throw' }])(owner, template, facts, constants);
  };
  return { ...real, compilerWith };
});

/** Loads the text of a generated module. */
function functionsIn(text: string): Readonly<Record<string, compile.CodeFunction>> {
  const module = { require: () => ({ generatedContexts: (functions: unknown) => functions }), exports: {} };
  new Function('require', 'exports', text)(module.require, module.exports);
  return (module.exports as { registerContexts: Readonly<Record<string, compile.CodeFunction>> }).registerContexts;
}
