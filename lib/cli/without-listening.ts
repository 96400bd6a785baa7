import { Server } from 'node:net';
import { importModule } from './import-module';

/** What a module exports, and the listeners of the servers that it would have started. */
export interface Loaded {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly served: readonly unknown[];
}

/** Loads a module. Its servers do not listen. @throws LoadError */
export async function loadWithoutListening(path: string): Promise<Loaded> {
  const served: unknown[] = [];
  const listening = new Promise<void>(resolve => {
    Server.prototype.listen = function listen(this: Server) {
      served.push(...this.listeners('request'));
      setImmediate(resolve);
      return this;
    };
  });
  // A module that waits until its server listens would wait forever.
  const loaded = importModule(path);
  return { exports: (await Promise.race([loaded, listening])) ?? {}, served };
}
