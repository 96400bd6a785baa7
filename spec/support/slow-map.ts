import { setTimeout as pause } from 'node:timers/promises';

const later = (): Promise<void> => pause(1 + Math.random() * 19);

/** A Map whose answers take their time, as those of a store on the network do. */
export class SlowMap extends Map<string, unknown> {
  override get(key: string): unknown {
    return later().then(() => super.get(key));
  }

  override set(key: string, value: unknown): this {
    return later().then(() => super.set(key, value)) as unknown as this;
  }

  override delete(key: string): boolean {
    return later().then(() => super.delete(key)) as unknown as boolean;
  }
}
