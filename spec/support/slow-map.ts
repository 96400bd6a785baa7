import { setTimeout as pause } from 'node:timers/promises';

/** A Map whose answers take their time, as those of a store on the network do. */
export class SlowMap extends Map<string, unknown> {
  constructor(private readonly delay: () => number = () => 1 + Math.random() * 19) {
    super();
  }

  override get(key: string): unknown {
    return pause(this.delay()).then(() => super.get(key));
  }

  override set(key: string, value: unknown): this {
    return pause(this.delay()).then(() => super.set(key, value)) as unknown as this;
  }

  override delete(key: string): boolean {
    return pause(this.delay()).then(() => super.delete(key)) as unknown as boolean;
  }
}
